// Tensors of torch's own, for results, scratch memory and whatever a kernel asks the host for.
#ifndef KERNPACK_SRC_GUESTS_TORCH_ALLOCATE_H_
#define KERNPACK_SRC_GUESTS_TORCH_ALLOCATE_H_

#include "guests/torch/shim.h"

namespace kernpack::torch {

// A fresh contiguous tensor like the prototype (ndim, shape, dtype, device). 0, or -1 with an error raised for `function`.
int Allocate(const Shim& shim, const char* function, const KpDLTensor& prototype, Tensor* out);

// KpCallContext.tensor_alloc; context is the Shim.
int AllocateForKernel(void* context, const KpDLTensor* prototype, KpAny* out);

}  // namespace kernpack::torch

#endif  // KERNPACK_SRC_GUESTS_TORCH_ALLOCATE_H_
