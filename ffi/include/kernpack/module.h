// KP_MODULE makes a shared object a Kernpack module. Use it once per module, in any of its source files.
#ifndef KERNPACK_MODULE_H_
#define KERNPACK_MODULE_H_

#include <kernpack/glue.h>
#include <kernpack/service.h>

#define KP_SDK_VERSION "0.1.0"

// Exported functions gather in a section as an array between two marks. The alignment is explicit: a larger one would leave gaps.
#if defined(_WIN32)
// The linker sorts the parts of a section by the text behind '$': the marks are entries of their own in the first part and the last.
#define KP_DEFS_PART_(part) KP_STRINGIFY(KP_PER_MODULE(.kpd)) "$" part
#define KP_DEFS_SECTION KP_DEFS_PART_("m")
#define KP_DEFS_BEGIN_ &KP_PER_MODULE(kp_defs_begin) + 1
#define KP_DEFS_END_ &KP_PER_MODULE(kp_defs_end)
#define KP_DEFS_MARK_(symbol, part) \
  extern KP_HIDDEN const KpFunctionDef symbol __attribute__((used, section(KP_DEFS_PART_(part)))) = {};
#define KP_DEFS_MARKS_ KP_DEFS_MARK_(KP_PER_MODULE(kp_defs_begin), "a") KP_DEFS_MARK_(KP_PER_MODULE(kp_defs_end), "z")
#elif defined(__APPLE__)
// The linker defines the marks, for names of at most 16 characters.
#define KP_DEFS_SECTION "__DATA_CONST," KP_STRINGIFY(KP_PER_MODULE(kp_defs))
#define KP_DEFS_BEGIN_ KP_PER_MODULE(kp_defs_begin)
#define KP_DEFS_END_ KP_PER_MODULE(kp_defs_end)
#define KP_DEFS_BOUND_(which) __asm__("section$" which "$__DATA_CONST$" KP_STRINGIFY(KP_PER_MODULE(kp_defs)))
#define KP_DEFS_MARKS_
#else
// The linker defines the marks.
#define KP_DEFS_SECTION KP_STRINGIFY(KP_PER_MODULE(kp_defs))
#define KP_DEFS_BEGIN_ KP_CAT(__start_, KP_PER_MODULE(kp_defs))
#define KP_DEFS_END_ KP_CAT(__stop_, KP_PER_MODULE(kp_defs))
#define KP_DEFS_MARKS_
#endif
#if defined(__has_attribute)
#if __has_attribute(retain)
#define KP_RETAIN_ retain,
#endif
#endif
#ifndef KP_RETAIN_
#define KP_RETAIN_
#endif
#define KP_DEFS_ENTRY_ \
  __attribute__((KP_RETAIN_ used, unused, aligned(alignof(KpFunctionDef)), section(KP_DEFS_SECTION)))

extern "C" {
#if defined(__APPLE__)
extern KP_HIDDEN const KpFunctionDef KP_DEFS_BEGIN_[] KP_DEFS_BOUND_("start");
extern KP_HIDDEN const KpFunctionDef KP_DEFS_END_[] KP_DEFS_BOUND_("end");
#elif !defined(_WIN32)
extern KP_HIDDEN __attribute__((weak)) const KpFunctionDef KP_DEFS_BEGIN_[];
extern KP_HIDDEN __attribute__((weak)) const KpFunctionDef KP_DEFS_END_[];
#endif
// Defined by KP_MODULE_INIT, if the module has one.
extern KP_HIDDEN __attribute__((weak)) void KP_PER_MODULE(kp_module_init)(void);
// Linked in by kernpack_add_module(): a digest of the module's sources.
extern KP_HIDDEN __attribute__((weak)) const char KP_PER_MODULE(kp_content_hash)[];
}

KP_NAMESPACE_BEGIN
namespace detail {

inline void destroy_instance(KpInstance* instance) { delete reinterpret_cast<Instance*>(instance); }

// An instance for a host, KP_MODULE_INIT run in it. 0, or -1 with an error raised.
inline int make_instance(const KpHost* host, ForeignState* foreign, KpInstance** out) noexcept {
  Instance* instance =
      new (std::nothrow) Instance{host, kp_bytes(KP_PER_MODULE(kp_module_table).name), foreign, nullptr};
  if (!instance) return host->raise(host, kp_bytes("MemoryError"), kp_bytes("out of memory"), KpBytes{nullptr, 0});
  const void* backtrace = nullptr;
  if (foreign || host->get_extension(host, kp_bytes(KP_BACKTRACE_EXTENSION), 1, &backtrace)) backtrace = nullptr;
  instance->backtrace = static_cast<const KpBacktrace*>(backtrace);
  KpInstance* self = reinterpret_cast<KpInstance*>(instance);
  *out = self;
  if (!&KP_PER_MODULE(kp_module_init)) return 0;
  const int rc = guarded(host, "KP_MODULE_INIT", [self] {
    CallScope scope(self, "KP_MODULE_INIT");
    KP_PER_MODULE(kp_module_init)();
  });
  if (rc) destroy_instance(self);
  return rc;
}

// KpModule::create.
inline int create_instance(const KpHost* host, KpInstance** out) noexcept { return make_instance(host, nullptr, out); }

// KpModule::min_host_abi of KP_NEEDS_HOST.
template <uint32_t major, uint32_t minor>
constexpr uint32_t needs_host() {
  static_assert(major == KP_ABI_MAJOR, "KP_NEEDS_HOST: these headers are of another major of the ABI");
  static_assert(minor <= KP_ABI_MINOR, "KP_NEEDS_HOST: these headers are older than that: pip install -U kernpack-sdk");
  return major << 16 | minor;
}

}  // namespace detail
KP_NAMESPACE_END

// KP_MODULE("my_kernels", "1.2.0"): name and version as the module's users see them. A third argument, KP_NEEDS_HOST(1, 1),
// means that the module needs a host of that ABI or newer: older ones refuse to load it. Without it, a module built with
// newer headers runs on older hosts, and using a service that they lack is an error (kernpack/service.h).
#define KP_MODULE(...) KP_MODULE_CHOOSE_(__VA_ARGS__, KP_MODULE_FOR_, KP_MODULE_FOR_ANY_, ~)(__VA_ARGS__)
#define KP_NEEDS_HOST(major, minor) (::kernpack::detail::needs_host<major, minor>())
#define KP_MODULE_CHOOSE_(name, version, third, fourth, ...) fourth
#define KP_MODULE_FOR_ANY_(name, version) KP_MODULE_FOR_(name, version, KP_ABI_OLDEST_HOST)
#define KP_MODULE_FOR_(name, version, min_host_abi)                                                              \
  extern "C" {                                                                                                   \
  KP_DEFS_MARKS_                                                                                                 \
  extern KP_HIDDEN const KpModule KP_PER_MODULE(kp_module_table) = {sizeof(KpModule),                            \
                                                                    KP_ABI_VERSION,                              \
                                                                    min_host_abi,                                \
                                                                    0,                                           \
                                                                    name,                                        \
                                                                    version,                                     \
                                                                    KP_SDK_VERSION,                              \
                                                                    KP_PER_MODULE(kp_content_hash),              \
                                                                    KP_DEFS_BEGIN_,                              \
                                                                    KP_DEFS_END_,                                \
                                                                    &::kernpack::detail::create_instance,        \
                                                                    &::kernpack::detail::destroy_instance,       \
                                                                    {nullptr, nullptr, nullptr, nullptr}};       \
  KP_EXPORT_SYMBOL const KpModule* KP_PER_MODULE(kp_module_v1)(void) { return &KP_PER_MODULE(kp_module_table); } \
  }                                                                                                              \
  static_assert(true, "")

// KP_MODULE_INIT(Init): `void Init()` runs once for each host that loads the module, inside a call: it may use the host's
// services, and an exception makes the load fail.
#define KP_MODULE_INIT(fn)                                                \
  extern "C" KP_HIDDEN void KP_PER_MODULE(kp_module_init)(void) { fn(); } \
  static_assert(true, "")

#endif  // KERNPACK_MODULE_H_
