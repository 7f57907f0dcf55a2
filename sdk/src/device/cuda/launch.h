// Launching kernels.
#ifndef KERNPACK_SDK_SRC_DEVICE_CUDA_LAUNCH_H_
#define KERNPACK_SDK_SRC_DEVICE_CUDA_LAUNCH_H_

#include "device/cuda/code.h"

namespace kernpack::cuda {

// Queues the kernel after checking the device's limits and the kernel's parameters. 0, or -1 with an error raised.
int Launch(const Device& device, Kernel* kernel, const KpLaunch& launch, Stream stream);

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_SRC_DEVICE_CUDA_LAUNCH_H_
