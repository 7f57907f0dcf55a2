// The __tvm_ffi_<name> aliases: the module's functions for hosts of the TVM FFI ABI, under the same contracts.
//
// With KP_SUPPORT_LINKED, which kernpack_add_module() defines, their code is in a static library that is compiled once per
// project. Without it, the code is inline functions, so that any compiler command builds a module.
#ifndef KERNPACK_ALIAS_H_
#define KERNPACK_ALIAS_H_

#include <kernpack/foreign/alias.h>
#include <kernpack/module.h>

#if !defined(KP_STATIC_NAME) && !defined(KP_SUPPORT_LINKED)
#include <kernpack/foreign/serve.h>
#include <kernpack/signature/invoke.h>
#endif

KP_NAMESPACE_BEGIN
namespace detail {

#if defined(KP_STATIC_NAME)  // embedded in a program: no aliases, since their names could meet
#define KP_ALIAS_(name, tag)
#else

template <class Tag>
constexpr bool has_workspace() {
  if constexpr (Tag::kSigned)
    return signature::View{Tag::program()}.HasWorkspace();
  else
    return false;
}

// An alias's body. Tag has the signature's program, and kSigned says whether there is one: under UBSan GCC compares no
// address with nullptr at compile time. What a module's signatures do not need is not linked into it.
#if defined(KP_SUPPORT_LINKED)
template <class Tag>
constexpr KpAlias kAlias = {Tag::function(), Tag::program(), has_workspace<Tag>() ? &kp_alias_workspace : nullptr,
                            nullptr};

template <class Tag>
int call_alias(KpAlias* alias, const KpAny* args, int32_t n, KpAny* result) {
  if constexpr (Tag::kSigned)
    return kp_alias_call_signed(alias, args, n, result);
  else
    return kp_alias_call_untyped(alias, args, n, result);
}
#else
template <class Tag>
constexpr KpAlias kAlias = {Tag::function(), Tag::program(), has_workspace<Tag>() ? &alias_workspace : nullptr,
                            nullptr};

template <class Tag>
int call_alias(KpAlias* alias, const KpAny* args, int32_t n, KpAny* result) {
  if constexpr (Tag::kSigned)
    return serve_signed(alias, args, n, result, &signature::Invoke);
  else
    return serve_untyped(alias, args, n, result);
}
#endif

// One alias per name, next to the op's baseline.
#define KP_ALIAS_(name, tag)                                                                                     \
  extern "C" KP_EXPORT_SYMBOL int KP_CAT(__tvm_ffi_, name)(void*, const KpAny* args, int32_t n, KpAny* result) { \
    static KpAlias alias = ::kernpack::detail::kAlias<tag>;                                                      \
    return ::kernpack::detail::call_alias<tag>(&alias, args, n, result);                                         \
  }
#endif

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_ALIAS_H_
