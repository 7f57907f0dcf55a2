// fused_linear_cross_entropy of f32, and of f16 and bf16 whose rows don't begin at multiples of 16 bytes.
#include "fused_kernels.cuh"
#include "product_any.cuh"

KK_FUSED(kk_cuda::ByThreads, f32, float)
KK_FUSED(kk_cuda::ByThreads, f16, __half)
KK_FUSED(kk_cuda::ByThreads, bf16, __nv_bfloat16)
