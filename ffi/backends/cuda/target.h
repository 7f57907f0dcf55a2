// Decides if code that was built for a target runs on a device.
#ifndef KERNPACK_BACKENDS_CUDA_TARGET_H_
#define KERNPACK_BACKENDS_CUDA_TARGET_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/cuda/backend.h"

namespace kernpack::cuda {

// `target` is in command-line form, "cuda -arch=sm_90 -max_num_threads=1024". -1 when it does not run there, else larger is
// more specific: machine code before PTX, a newer architecture before an older one. *reason says why.
int32_t MatchTarget(const Device& device, std::string_view target, std::string* reason);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_TARGET_H_
