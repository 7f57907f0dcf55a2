// What the host does where a backend leaves a service out: makes it from what the backend has, or refuses.
#ifndef KERNPACK_SRC_DEVICES_FALLBACK_H_
#define KERNPACK_SRC_DEVICES_FALLBACK_H_

#include <kernpack/device_api.h>

namespace kernpack::host::fallback {

// Each is given the host's table, whose other services are complete.
#define KP_DECLARE_FALLBACK(minor, needs, name, parameters) int name parameters noexcept;
KP_DEVICE_SERVICES(KP_DECLARE_FALLBACK)
#undef KP_DECLARE_FALLBACK

}  // namespace kernpack::host::fallback

#endif  // KERNPACK_SRC_DEVICES_FALLBACK_H_
