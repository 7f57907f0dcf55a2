// out[i] = scale * (the sum over parts of partial[part * stride + i]): a thread per result, the parts always in the same order.
#include "numbers.cuh"

namespace kk_cuda {
namespace {

template <class S>
__device__ void SumParts(const S* partial, void* out, const SumPartsParams& p) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.count) return;
  S sum = 0;
  for (int part = 0; part < p.parts; ++part) sum += partial[part * p.stride + i];
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

extern "C" __global__ void __launch_bounds__(128)
    sum_parts_f32(const float* partial, void* out, kk_cuda::SumPartsParams p) {
  kk_cuda::SumParts(partial, out, p);
}
extern "C" __global__ void __launch_bounds__(128)
    sum_parts_f64(const double* partial, void* out, kk_cuda::SumPartsParams p) {
  kk_cuda::SumParts(partial, out, p);
}
