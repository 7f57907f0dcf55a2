// Twice x plus y: rows of 64 numbers come by copies in bulk, and two numbers are computed at once where that is an instruction.
#include "common/cuda/tensor_copy.cuh"

extern "C" __global__ void twice_plus(const float* x, const float* y, float* out) {
  __shared__ alignas(16) float rows[2][64];
  __shared__ uint64_t arrived;
  using namespace kk_cuda;
  if (threadIdx.x == 0) {
    InitBarrier(&arrived, 1);
    PublishBarriers();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ArriveExpecting(&arrived, sizeof rows);
    CopyBytes(rows[0], x + blockIdx.x * 64, sizeof rows[0], &arrived);
    CopyBytes(rows[1], y + blockIdx.x * 64, sizeof rows[1], &arrived);
  }
  Await(&arrived, 0);
  const float2 of_x = reinterpret_cast<const float2*>(rows[0])[threadIdx.x];
  const float2 of_y = reinterpret_cast<const float2*>(rows[1])[threadIdx.x];
#if __CUDA_ARCH__ >= 1000
  const float2 sums = __ffma2_rn(of_x, make_float2(2, 2), of_y);
#else
  const float2 sums = make_float2(__fmaf_rn(of_x.x, 2, of_y.x), __fmaf_rn(of_x.y, 2, of_y.y));
#endif
  reinterpret_cast<float2*>(out)[blockIdx.x * 32 + threadIdx.x] = sums;
}
