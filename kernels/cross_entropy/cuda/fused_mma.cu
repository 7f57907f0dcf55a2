// fused_linear_cross_entropy of f16 and bf16 by tensor cores.
#include "fused_kernels.cuh"
#include "product_mma.cuh"

KK_FUSED(kk_cuda::ByTensorCores, f16, __half)
KK_FUSED(kk_cuda::ByTensorCores, bf16, __nv_bfloat16)
