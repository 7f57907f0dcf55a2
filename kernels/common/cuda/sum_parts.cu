// out[i] = scale * (the sum over parts of partial[part * stride + i]): 32 results per block, each by several threads, which add up their
// share of the parts. The order is always the same.
#include "numbers.cuh"

namespace kk_cuda {
namespace {

constexpr int kShares = 16;

template <class S>
__device__ void SumParts(const S* partial, void* out, const SumPartsParams& p) {
  __shared__ S shares[kShares][32];
  const int lane = threadIdx.x % 32, share = threadIdx.x / 32;
  const long long i = static_cast<long long>(blockIdx.x) * 32 + lane;
  S sum = 0;
  if (i < p.count) {
    const int end = p.parts * (share + 1) / kShares;
#pragma unroll 8
    for (int part = p.parts * share / kShares; part < end; ++part) sum += partial[part * p.stride + i];
  }
  shares[share][lane] = sum;
  __syncthreads();
  if (share != 0 || i >= p.count) return;
  for (int s = 1; s < kShares; ++s) sum += shares[s][lane];
  sum *= static_cast<S>(p.scale);
  switch (p.kind) {
    case kNumberF32:
      return Put(static_cast<float>(sum), static_cast<float*>(out) + i);
    case kNumberF64:
      return Put(static_cast<double>(sum), static_cast<double*>(out) + i);
    case kNumberF16:
      return Put(static_cast<float>(sum), static_cast<__half*>(out) + i);
    case kNumberBf16:
      return Put(static_cast<float>(sum), static_cast<__nv_bfloat16*>(out) + i);
  }
}

}  // namespace
}  // namespace kk_cuda

extern "C" __global__ void __launch_bounds__(512)
    sum_parts_f32(const float* partial, void* out, kk_cuda::SumPartsParams p) {
  kk_cuda::SumParts(partial, out, p);
}
extern "C" __global__ void __launch_bounds__(512)
    sum_parts_f64(const double* partial, void* out, kk_cuda::SumPartsParams p) {
  kk_cuda::SumParts(partial, out, p);
}
