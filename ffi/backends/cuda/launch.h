// Launching kernels.
#ifndef KERNPACK_BACKENDS_CUDA_LAUNCH_H_
#define KERNPACK_BACKENDS_CUDA_LAUNCH_H_

#include "backends/cuda/code.h"

namespace kernpack::cuda {

// Queues the kernel after checking the device's limits and the kernel's parameters. 0, or -1 with an error raised.
int Launch(const Device& device, Kernel* kernel, const KpLaunch& launch, Stream stream);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_LAUNCH_H_
