#ifndef KERNPACK_PYTHON_API_API_DEVICE_H_
#define KERNPACK_PYTHON_API_API_DEVICE_H_

#include <kernpack/host/device.h>

/* The backend of a device's type; NULL with an error in the host. */
static inline const KpDeviceApi* kpy_device_api(KpDLDevice device) {
  const KpDeviceApi* api = NULL;
  return kp_device_api(device.device_type, &api) == 0 ? api : NULL;
}

#endif /* KERNPACK_PYTHON_API_API_DEVICE_H_ */
