// The largest and the sum of a number that each lane of a warp has, known to all its lanes.
#pragma once

namespace kk_cuda {

__device__ inline float WarpMax(float x) {
  for (int i = 16; i > 0; i /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, i));
  return x;
}
__device__ inline float WarpSum(float x) {
  for (int i = 16; i > 0; i /= 2) x += __shfl_xor_sync(~0u, x, i);
  return x;
}

}  // namespace kk_cuda
