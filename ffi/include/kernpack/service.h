/* The host's services, one accessor each: kp_host_<name>(host) is the function to call, as in
 *
 *     kp_host_log(host)(host, KP_LOG_INFO, line)
 *
 * For a service of ABI 1.0, which every host has, that is host->log and costs nothing more. For a later one it looks at the
 * host's struct_size first; if the host lacks the service, the function that it returns raises RuntimeError
 *
 *     ping needs a host of ABI 1.1 or newer; this is 1.0: pip install -U kernpack
 *
 * so one binary runs on every host and fails only when it calls a missing service. A module that can't work without a later
 * service uses KP_NEEDS_HOST in its KP_MODULE; then older hosts refuse to load it. Plain C99.
 */
#ifndef KERNPACK_SERVICE_H_
#define KERNPACK_SERVICE_H_

#include <kernpack/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline char* kp_append_text_(char* at, const char* end, const char* text) {
  while (*text && at < end) *at++ = *text++;
  return at;
}

static inline char* kp_append_number_(char* at, const char* end, uint32_t number) {
  char digits[11];
  char* first = digits + 10;
  *first = 0;
  do {
    *--first = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  return kp_append_text_(at, end, first);
}

/* Raises that the host has no such service; -1. `marker` is "kernpack.service:<major>.<minor>:<name>": `kernpack check` finds these
 * texts in a binary, and tells from them which services it can do without. */
static inline __attribute__((cold)) int kp_host_lacks_(const KpHost* host, uint32_t minor, const char* marker) {
  char text[192];
  const char* end = text + sizeof text;
  const char* name = marker;
  char* at = text;
  KpBytes message, none = {NULL, 0};
  while (*marker)
    if (*marker++ == ':') name = marker;
  at = kp_append_text_(at, end, name);
  if (host->abi_version >= (((uint32_t)KP_ABI_MAJOR << 16) | minor)) {
    at = kp_append_text_(at, end,
                         " is not available: this host does not offer the service; load the module with Kernpack");
  } else {
    at = kp_append_text_(at, end, " needs a host of ABI ");
    at = kp_append_number_(at, end, KP_ABI_MAJOR);
    at = kp_append_text_(at, end, ".");
    at = kp_append_number_(at, end, minor);
    at = kp_append_text_(at, end, " or newer; this is ");
    at = kp_append_number_(at, end, host->abi_version >> 16);
    at = kp_append_text_(at, end, ".");
    at = kp_append_number_(at, end, host->abi_version & 0xffff);
    at = kp_append_text_(at, end, ": pip install -U kernpack");
  }
  message.data = text;
  message.size = (size_t)(at - text);
  return host->raise(host, kp_bytes("RuntimeError"), message, none);
}

#define KP_SERVICE_MARKER_(minor, name) "kernpack.service:" KP_STRINGIFY(KP_ABI_MAJOR) "." #minor ":" #name

/* If the host lacks a later service, its accessor raises an error and uses its first parameter only. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

#define KP_HOST_OLDEST_ACCESSOR_(version, name, parameters) \
  static inline int(*kp_host_##name(const KpHost* host)) parameters { return host->name; }
#define KP_HOST_LATER_ACCESSOR_(version, name, parameters)                                  \
  static inline int kp_host_lacks_##name parameters {                                       \
    return kp_host_lacks_(host, version, KP_SERVICE_MARKER_(version, name));                \
  }                                                                                         \
  static inline int(*kp_host_##name(const KpHost* host)) parameters {                       \
    return KP_HAS_FIELD(KpHost, host, name##_of_1_##version) && host->name##_of_1_##version \
               ? host->name##_of_1_##version                                                \
               : &kp_host_lacks_##name;                                                     \
  }
#define KP_HOST_ACCESSOR_(version, name, parameters) \
  KP_IF_OLDEST_(version, KP_HOST_OLDEST_ACCESSOR_, KP_HOST_LATER_ACCESSOR_)(version, name, parameters)
KP_HOST_SERVICES(KP_HOST_ACCESSOR_)
#undef KP_HOST_ACCESSOR_
#undef KP_HOST_LATER_ACCESSOR_
#undef KP_HOST_OLDEST_ACCESSOR_

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_SERVICE_H_ */
