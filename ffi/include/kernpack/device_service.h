/* Services of devices that are newer than ABI 1.0, for modules: kp_device_<name>(host, api) is the function to call, as in
 *
 *     int (*name)(...) = kp_device_name(host, api);
 *     if (!name) return -1;
 *
 * It is NULL, with RuntimeError raised in the host ("name needs a host of ABI 1.1 or newer; this is 1.0: pip install -U
 * kernpack"), if the host's tables lack the service. `api` is a table from the host. Read services of 1.0 from
 * the table itself. Plain C99.
 */
#ifndef KERNPACK_DEVICE_SERVICE_H_
#define KERNPACK_DEVICE_SERVICE_H_

#include <kernpack/device_api.h>
#include <kernpack/service.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KP_DEVICE_OLDEST_ACCESSOR_(minor, needs, name, parameters)
#define KP_DEVICE_LATER_ACCESSOR_(minor, needs, name, parameters)                               \
  static inline int(*kp_device_##name(const KpHost* host, const KpDeviceApi* api)) parameters { \
    if (KP_DEVICE_SERVICE_OF(api, minor, name)) return api->KP_SERVICE_FIELD_(minor, name);     \
    (void)kp_host_lacks_(host, minor, KP_SERVICE_MARKER_(minor, name));                         \
    return NULL;                                                                                \
  }
#define KP_DEVICE_ACCESSOR_(minor, needs, name, parameters) \
  KP_IF_OLDEST_(minor, KP_DEVICE_OLDEST_ACCESSOR_, KP_DEVICE_LATER_ACCESSOR_)(minor, needs, name, parameters)
KP_DEVICE_SERVICES(KP_DEVICE_ACCESSOR_)
#undef KP_DEVICE_ACCESSOR_
#undef KP_DEVICE_LATER_ACCESSOR_
#undef KP_DEVICE_OLDEST_ACCESSOR_

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_DEVICE_SERVICE_H_ */
