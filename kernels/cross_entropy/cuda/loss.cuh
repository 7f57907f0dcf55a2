// Code that cross entropies share, fused with their linear layer or not: targets, losses and slopes of a row.
#pragma once

#include <cassert>

namespace kk_cuda {

// The target of a row, -1 where it doesn't count. The host doesn't know the targets, and waiting for them would stop the stream.
template <class Params>
__device__ inline long long LoadTarget(const Params& p, const void* targets, long long row) {
  const long long target = p.wide ? static_cast<const long long*>(targets)[row] : static_cast<const int*>(targets)[row];
  const bool cross_entropy_target_is_a_class = target == p.ignored || (target >= 0 && target < p.classes);
  assert(cross_entropy_target_is_a_class);
  return target == p.ignored || !cross_entropy_target_is_a_class ? -1 : target;
}

// Of a row with that logarithm of the sum of exponentials, logit of the target, and mean of all logits.
template <class Params>
__device__ inline float ComputeLoss(const Params& p, double sum, double at, float mean) {
  const double smoothed = p.smoothing > 0 ? (1 - p.smoothing) * at + p.smoothing * mean : at;
  return static_cast<float>(sum - smoothed + p.z_loss * sum * sum);
}

// The slope of a row's loss, times `d`, by each of its logits.
struct Slope {
  long long target;
  float sum, scale, all, once;

  template <class Params>
  __device__ Slope(const Params& p, long long target, float sum, float d)
      : target(target),
        sum(sum),
        scale(d * (1 + 2 * p.z_loss * sum)),
        all(d * p.smoothing / p.classes),
        once(d * (1 - p.smoothing)) {}

  __device__ float Of(float logit, int of_class) const {
    return target < 0 ? 0.0f : scale * expf(logit - sum) - (of_class == target ? all + once : all);
  }
};

}  // namespace kk_cuda
