// Cross-entropy of a row, and its gradient.
#include "cross_entropy.h"

#include <cmath>

#include "common/cpu/math.h"
#include "common/cpu/row.h"

namespace kk {

template <class Level, class T>
float CrossEntropyRow(const CrossEntropyOptions& options, const T* logits, int64_t target, float* lse) {
  const int64_t width = options.classes;
  const float max =
      RowMax<T>(width, [&](int64_t i, auto extent) { return Get(logits + i, extent, -__builtin_inff()); });
  const double sum =
      RowSum<T>(width, [&](int64_t i, auto extent) { return Exp(Get(logits + i, extent, -__builtin_inff()) - max); });
  double mean = 0;
  if (options.smoothing > 0) {
    mean = RowSum<T>(width, [&](int64_t i, auto extent) { return Get(logits + i, extent); }) / width;
  }
  const double log_sum = max + std::log(sum);
  *lse = static_cast<float>(log_sum);
  return static_cast<float>(options.Loss(log_sum, Get(logits + target, Part{1})[0], mean));
}

template <class Level, class T>
void CrossEntropyBackwardRow(const CrossEntropyOptions& options, float d_loss, const T* logits, int64_t target,
                             float lse, T* d_logits) {
  const CrossEntropySlope slope(options, d_loss, lse);
  const auto at = [&](int64_t i, auto extent, float less) {
    Put(d_logits + i, extent, slope.weight * Exp(Get(logits + i, extent) - lse) - less);
  };
  ForRow<T>(options.classes, [&](int64_t i, auto extent) { at(i, extent, slope.all); });
  at(target, Part{1}, slope.all + slope.target);
}

#define KK_INSTANTIATE(T)                                                                               \
  template float CrossEntropyRow<KP_VARIANT, T>(const CrossEntropyOptions&, const T*, int64_t, float*); \
  template void CrossEntropyBackwardRow<KP_VARIANT, T>(const CrossEntropyOptions&, float, const T*, int64_t, float, T*);
KK_CROSS_ENTROPY_TYPES(KK_INSTANTIATE)

}  // namespace kk
