// Facts about a device.
#ifndef KERNPACK_BACKENDS_CUDA_ATTRIBUTES_H_
#define KERNPACK_BACKENDS_CUDA_ATTRIBUTES_H_

#include <string_view>

#include "backends/cuda/backend.h"

namespace kernpack::cuda {

// A KpDeviceAttrKind. *out is INT, RAW_STR valid until this thread's next call, or NONE. 0, or -1 with an error raised.
int GetAttribute(const Device& device, int32_t kind, KpAny* out);

// The properties of kProperties; NONE for any other name.
int GetProperty(const Device& device, std::string_view name, KpAny* out);
extern const char* const kProperties[];

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_ATTRIBUTES_H_
