// Facts about a device, and whether code built for a target runs on it.
#ifndef KERNPACK_BACKENDS_CUDA_ATTRIBUTES_H_
#define KERNPACK_BACKENDS_CUDA_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/cuda/backend.h"

namespace kernpack::cuda {

// A KpDeviceAttrKind. *out is INT, RAW_STR valid until this thread's next call, or NONE. 0, or -1 with an error raised.
int GetAttribute(const Device& device, int32_t kind, KpAny* out);

// The properties of kProperties; NONE for any other name.
int GetProperty(const Device& device, std::string_view name, KpAny* out);
extern const char* const kProperties[];

// `target` is in command-line form, "cuda -arch=sm_90 -max_num_threads=1024". -1 when it does not run there, else larger is
// more specific: machine code before PTX, a newer architecture before an older one. *reason says why.
int32_t MatchTarget(const Device& device, std::string_view target, std::string* reason);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_ATTRIBUTES_H_
