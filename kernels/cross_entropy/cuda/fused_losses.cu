// The losses of fused_linear_cross_entropy, of what the stripes of classes came to: a thread per row.
#include "loss.cuh"
#include "common/cuda/tail.cuh"
#include "fused_params.h"

extern "C" __global__ void __launch_bounds__(128)
    fused_losses(const float* partial, const float* of_targets, const void* targets, float* loss, float* lse,
                 int stripes, const __grid_constant__ kk_cuda::FusedParams p) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= p.rows) return;
  if (kk_cuda::LoadTarget(p, targets, row) < 0) {
    loss[row] = lse[row] = 0;
    return;
  }
  kk_cuda::Tail<float> tail = {kk_cuda::Lowest<float>(), 0};
  float total = 0;
  for (int s = 0; s < stripes; ++s) {
    const float* const from = partial + 3LL * s * p.rows + row;
    tail.Add({from[0], from[p.rows]});
    total += from[2LL * p.rows];
  }
  const double sum = tail.largest + log(static_cast<double>(tail.sum)), at = of_targets[row];
  lse[row] = static_cast<float>(sum);
  loss[row] = kk_cuda::ComputeLoss(p, sum, at, total / p.classes);
}
