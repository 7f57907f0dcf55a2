// Code that the calls of cross-entropy share: their options and targets, checked.
#pragma once

#include <vector>

#include "common/cpu/ops.h"
#include "cross_entropy.h"
#include "cross_entropy/contract.h"

namespace kk {

inline CrossEntropyOptions CheckedOptions(int64_t classes, double label_smoothing, double z_loss) {
  CheckCrossEntropyOptions(label_smoothing, z_loss);
  return {classes, static_cast<float>(label_smoothing), static_cast<float>(z_loss)};
}

constexpr int64_t kIgnored = -1;

// The target of each row, or kIgnored. IndexError at the first one that isn't a class.
inline std::vector<int64_t> Targets(const char* op, kp::TensorView targets, int64_t classes, int64_t ignore_index) {
  std::vector<int64_t> found(static_cast<size_t>(targets.numel()));
  kp::dispatch<int32_t, int64_t>(targets.dtype(), [&](auto t) {
    using I = typename decltype(t)::type;
    for (int64_t i = 0; i < targets.numel(); ++i) {
      const int64_t target = Data<I>(targets)[i];
      KP_CHECK(target == ignore_index || (target >= 0 && target < classes), IndexError)
          << op << ": targets: element " << i << " is " << target << ", not one of " << classes
          << " classes (expected 0 to " << classes - 1 << ", or ignore_index, " << ignore_index << ')';
      found[i] = target == ignore_index ? kIgnored : target;
    }
  });
  return found;
}

// f(Tag<T>) with the type that logits of `dtype` are stored in.
template <class F>
void DispatchLogits(kp::DType dtype, F f) {
  kp::dispatch<float, kp::half, kp::bfloat16>(
      dtype, [&](auto t) { f(Tag<typename Storage<typename decltype(t)::type>::Type>()); });
}

}  // namespace kk
