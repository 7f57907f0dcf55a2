// Cross-entropy of a row of logits, and its gradient: plain pointers, compiled once per CPU level.
#pragma once

#include "common/cpu/types.h"

namespace kk {

// X(type): what logits may be. They are computed in f32, so f64 isn't among them.
#define KK_CROSS_ENTROPY_TYPES(X) X(float) X(Bf16) X(F16)

struct CrossEntropyOptions {
  int64_t classes;
  float smoothing, z_loss;

  // The loss of a row: its log-sum-exp, the target's logit and the mean of all logits.
  double Loss(double lse, double target, double mean) const {
    const double smoothed = smoothing > 0 ? (1 - smoothing) * target + smoothing * mean : target;
    return lse - smoothed + z_loss * lse * lse;
  }
};

// The gradient of a row's logits is `weight` times their softmax, less `all`, and less `target` at the target.
struct CrossEntropySlope {
  float weight, all, target;
  CrossEntropySlope(const CrossEntropyOptions& options, float d_loss, float lse)
      : weight(d_loss * (1 + 2 * options.z_loss * lse)),
        all(d_loss * options.smoothing / static_cast<float>(options.classes)),
        target(d_loss * (1 - options.smoothing)) {}
};

// Returns the loss; *lse is the logarithm of the sum of the row's exponentials.
template <class Level, class T>
float CrossEntropyRow(const CrossEntropyOptions& options, const T* logits, int64_t target, float* lse);
template <class Level, class T>
void CrossEntropyBackwardRow(const CrossEntropyOptions& options, float d_loss, const T* logits, int64_t target,
                             float lse, T* d_logits);

}  // namespace kk
