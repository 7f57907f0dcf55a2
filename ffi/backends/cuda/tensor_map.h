// Tensor maps (CUtensorMap), which the tensor memory accelerator (TMA) reads.
#ifndef KERNPACK_BACKENDS_CUDA_TENSOR_MAP_H_
#define KERNPACK_BACKENDS_CUDA_TENSOR_MAP_H_

#include "backends/cuda/code.h"

namespace kernpack::cuda {

// Encodes the KpTensorMap of an argument, the launch's `at`th. The driver only says that a map is wrong, so what it requires is
// checked before. 0, or -1 with an error raised.
int EncodeTensorMap(const Kernel& kernel, size_t at, const KpKernelArg& argument, TensorMap* out);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_TENSOR_MAP_H_
