// The attributes of a device.
#ifndef KERNPACK_BACKENDS_OPENCL_ATTRIBUTES_H_
#define KERNPACK_BACKENDS_OPENCL_ATTRIBUTES_H_

#include <kernpack/device_api.h>

#include "backend.h"

namespace kernpack::opencl {

// `*out` stays NONE where OpenCL has no such fact. Text is valid until this thread's next call.
void GetAttribute(const char* function, int32_t device, int32_t kind, KpAny* out);
// The same for one of PropertyNames(); NONE for other names.
void GetProperty(const char* function, int32_t device, KpBytes name, KpAny* out);

const char* const* PropertyNames();  // NULL-terminated

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_ATTRIBUTES_H_
