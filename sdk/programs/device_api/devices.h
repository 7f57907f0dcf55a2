// The host's device services, reached through its table.
#ifndef KERNPACK_SDK_PROGRAMS_DEVICE_API_DEVICES_H_
#define KERNPACK_SDK_PROGRAMS_DEVICE_API_DEVICES_H_

#include <kernpack/device_api.h>

namespace kernpack::sdk {

// ImportError where the host is too old to have them.
const KpDevices& HostDevices();

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_PROGRAMS_DEVICE_API_DEVICES_H_
