// KP_EXPORT and related macros: the functions that a module offers, their contracts, and the targets that they are for.
#ifndef KERNPACK_EXPORT_H_
#define KERNPACK_EXPORT_H_

#include <kernpack/alias.h>
#include <kernpack/fit.h>
#include <kernpack/module.h>
#include <kernpack/signature/compile.h>

KP_NAMESPACE_BEGIN
namespace detail {

// [a-z_][a-z0-9_]*
constexpr bool is_function_name(const char* name) {
  for (const char* c = name; *c; ++c) {
    if (!((*c >= 'a' && *c <= 'z') || *c == '_' || (c != name && *c >= '0' && *c <= '9'))) return false;
  }
  return *name != 0;
}

// Returns true if the text is lines of key=value. The host rejects duplicate keys.
constexpr bool are_attributes(const char* text) {
  for (const char* c = text; *c; ++c) {
    const char* key = c;
    for (; *c && *c != '=' && *c != '\n'; ++c) {
      const bool first = (*c >= 'a' && *c <= 'z') || *c == '_';
      if (!first && (c == key || !((*c >= '0' && *c <= '9') || *c == '.'))) return false;
    }
    if (c == key || *c != '=') return false;
    while (*c && *c != '\n') ++c;
    if (!*c) return true;
  }
  return true;
}

}  // namespace detail
KP_NAMESPACE_END

#define KP_DOC_SYMBOL_(name) KP_PER_MODULE(KP_CAT(kp_doc_, name))

// KP_DOC(name, "text"): what help() shows for an exported function. Anywhere in the module, once per function.
#define KP_DOC(name, text)                                   \
  extern "C" {                                               \
  extern KP_HIDDEN const char KP_DOC_SYMBOL_(name)[] = text; \
  }                                                          \
  static_assert(true, "")

#define KP_ATTRIBUTES_SYMBOL_(name) KP_PER_MODULE(KP_CAT(kp_attributes_, name))

// KP_ATTRIBUTES(name, "flops=2*N*D\n" "paper=arXiv:2205.14135"): further properties of an exported function, one
// key=value per line; Python has it as `k.functions["name"].attributes`. Anywhere in the module, once per function. Keys are
// [a-z_][a-z0-9_.]*; those without a dot are for authors, Kernpack's own will begin with "kernpack.".
#define KP_ATTRIBUTES(name, text)                                   \
  extern "C" {                                                      \
  extern KP_HIDDEN const char KP_ATTRIBUTES_SYMBOL_(name)[] = text; \
  }                                                                 \
  static_assert(::kernpack::detail::are_attributes(text), "KP_ATTRIBUTES: expected lines of key=value: " text)

// The definitions of KP_EXPORT: a tag type with the names, a description of the function, an entry in the
// section.
#define KP_EXPORT_DEF_(id, name, fn, target, signature, program, words, types)            \
  extern "C" {                                                                            \
  extern KP_HIDDEN __attribute__((weak)) const char KP_DOC_SYMBOL_(name)[];               \
  extern KP_HIDDEN __attribute__((weak)) const char KP_ATTRIBUTES_SYMBOL_(name)[];        \
  }                                                                                       \
  namespace {                                                                             \
  const KpFunctionInfo KP_CAT(kp_info_, id) = {sizeof(KpFunctionInfo),                    \
                                               KP_DEF_FUNCTION,                           \
                                               target,                                    \
                                               signature,                                 \
                                               program,                                   \
                                               words,                                     \
                                               0,                                         \
                                               KP_DOC_SYMBOL_(name),                      \
                                               types,                                     \
                                               nullptr,                                   \
                                               KP_ATTRIBUTES_SYMBOL_(name),               \
                                               {nullptr, nullptr}};                       \
  KP_DEFS_ENTRY_ const KpFunctionDef KP_CAT(kp_def_, id) = {                              \
      #name, &::kernpack::detail::call<KP_CAT(kp_tag_, id), &fn>, &KP_CAT(kp_info_, id)}; \
  }                                                                                       \
  static_assert(::kernpack::detail::is_function_name(#name), "KP_EXPORT: a name is [a-z_][a-z0-9_]*: " #name)

#define KP_EXPORT_UNTYPED_(id, name, fn)                          \
  namespace {                                                     \
  struct KP_CAT(kp_tag_, id) {                                    \
    static constexpr const char* function() { return #name; }     \
    static constexpr std::nullptr_t program() { return nullptr; } \
    [[maybe_unused]] static constexpr bool kSigned = false;       \
  };                                                              \
  }                                                               \
  KP_ALIAS_(name, KP_CAT(kp_tag_, id))                            \
  KP_EXPORT_DEF_(id, name, fn, nullptr, nullptr, nullptr, 0, ::kernpack::detail::TypesOf<&fn>::value.data)

#define KP_EXPORT_SIGNED_FOR_(id, target, name, fn, signature_text)                                                 \
  namespace {                                                                                                       \
  struct KP_CAT(kp_text_, id) {                                                                                     \
    static constexpr const char* kText = signature_text;                                                            \
    static constexpr uint32_t kSize = sizeof(signature_text) - 1;                                                   \
  };                                                                                                                \
  struct KP_CAT(kp_tag_, id) : ::kernpack::signature::Compiled<KP_CAT(kp_text_, id)> {                              \
    static constexpr const char* function() { return #name; }                                                       \
    static constexpr const uint32_t* program() { return Program(); }                                                \
    [[maybe_unused]] static constexpr bool kSigned = true;                                                          \
  };                                                                                                                \
  static_assert(::kernpack::detail::Fits<KP_CAT(kp_tag_, id), decltype(&fn)>::value(),                              \
                "KP_EXPORT: " #fn " does not fit the signature of " #name);                                         \
  }                                                                                                                 \
  KP_EXPORT_DEF_(id, name, fn, target, signature_text, KP_CAT(kp_tag_, id)::Program(), KP_CAT(kp_tag_, id)::kWords, \
                 nullptr)

#define KP_EXPORT_SIGNED_(id, name, fn, signature)         \
  KP_EXPORT_SIGNED_FOR_(id, nullptr, name, fn, signature); \
  KP_ALIAS_(name, KP_CAT(kp_tag_, id))                     \
  static_assert(true, "")

#define KP_EXPORT_PICK_(a, b, c, macro, ...) macro

// KP_EXPORT(name, Function, "signature"): a function under a contract; the C++ parameters are the signature's, in order, then
// the results, then the workspace (of u8) if there is one. Tensors that the function writes (results, `name!`, the workspace) are
// kp::MutTensorViews, the others kp::TensorViews. A text that does not compile, or a function that does not fit it, is a
// compile error.
// KP_EXPORT(name, Function): without a contract: called positionally, types deduced from the C++ function.
#define KP_EXPORT(...)                                                      \
  KP_EXPORT_PICK_(__VA_ARGS__, KP_EXPORT_SIGNED_, KP_EXPORT_UNTYPED_, ~, ~) \
  (KP_CAT(KP_CAT(__LINE__, _), __COUNTER__), __VA_ARGS__)

// KP_EXPORT_FOR("llvm -mcpu=x86-64-v3", name, Function, "signature"): another implementation of an op that KP_EXPORT
// declares, for the devices that satisfy the target. The signature's text must be the same.
#define KP_EXPORT_FOR(target, name, fn, signature) \
  KP_EXPORT_SIGNED_FOR_(KP_CAT(KP_CAT(__LINE__, _), __COUNTER__), target, name, fn, signature)

// KP_GRAD(forward, backward): the op `backward` computes gradients of the op `forward` (reverse mode).
// KP_JVP(forward, tangent): the op `tangent` computes tangents of the results of the op `forward` (forward mode).
// Their arguments are matched by name (docs/signature.md).
#define KP_GRAD(forward, backward) \
  KP_LINK_(KP_CAT(KP_CAT(__LINE__, _), __COUNTER__), KP_DEF_GRADIENT, forward, backward)
#define KP_JVP(forward, tangent) KP_LINK_(KP_CAT(KP_CAT(__LINE__, _), __COUNTER__), KP_DEF_JVP, forward, tangent)
#define KP_LINK_(id, kind, forward, derived)                                                              \
  namespace {                                                                                             \
  const KpFunctionInfo KP_CAT(kp_info_, id) = {                                                           \
      sizeof(KpFunctionInfo), kind, #derived, nullptr, nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr, \
      {nullptr, nullptr}};                                                                                \
  KP_DEFS_ENTRY_ const KpFunctionDef KP_CAT(kp_def_, id) = {#forward, nullptr, &KP_CAT(kp_info_, id)};    \
  }                                                                                                       \
  static_assert(true, "")

#endif  // KERNPACK_EXPORT_H_
