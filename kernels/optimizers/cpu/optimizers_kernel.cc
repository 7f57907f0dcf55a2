// Steps of AdamW, Lion and SGD, and what clipping gradients takes.
#include "optimizers.h"

#include "common/cpu/row.h"

namespace kk {
namespace {

// a + (b - a) * t.
inline VF Lerp(VF a, VF b, float t) { return a + (b - a) * t; }

}  // namespace

template <class Level, class T>
void Adamw(const AdamwStep& step, T* param, const T* grad, float* mean, float* square, int64_t count) {
  ForRow<T>(count, [&](int64_t i, auto extent) {
    const VF g = Get(grad + i, extent);
    const VF m = Lerp(Get(mean + i, extent), g, 1 - step.beta1);
    const VF v = Lerp(Get(square + i, extent), g * g, 1 - step.beta2);
    Put(mean + i, extent, m);
    Put(square + i, extent, v);
    Put(param + i, extent,
        Get(param + i, extent) * step.keep - step.rate * m / (Sqrt(v) * step.root_correction + step.eps));
  });
}

template <class Level, class T>
void Lion(const LionStep& step, T* param, const T* grad, float* mean, int64_t count) {
  ForRow<T>(count, [&](int64_t i, auto extent) {
    const VF g = Get(grad + i, extent), m = Get(mean + i, extent);
    const VF u = Lerp(m, g, 1 - step.beta1);
    const VF sign = u > 0 ? VF{} + 1 : u < 0 ? VF{} - 1 : u;  // zeros and NaNs as they are
    Put(mean + i, extent, Lerp(m, g, 1 - step.beta2));
    Put(param + i, extent, Get(param + i, extent) * step.keep - step.rate * sign);
  });
}

template <class Level, class T>
void Sgd(const SgdStep& step, T* param, const T* grad, float* momentum, int64_t count) {
  ForRow<T>(count, [&](int64_t i, auto extent) {
    const VF p = Get(param + i, extent), g = Get(grad + i, extent) + p * step.decay;
    const VF m = Get(momentum + i, extent) * step.momentum + g;
    Put(momentum + i, extent, m);
    Put(param + i, extent, p - step.rate * (step.nesterov ? g + m * step.momentum : m));
  });
}

template <class Level, class T>
double SumOfSquares(const T* x, int64_t count) {
  return RowSum<T>(count, [&](int64_t i, auto extent) {
    const VF v = Get(x + i, extent);
    return v * v;
  });
}

template <class Level, class T>
void Scale(T* x, float factor, int64_t count) {
  ForRow<T>(count, [&](int64_t i, auto extent) { Put(x + i, extent, Get(x + i, extent) * factor); });
}

#define KK_INSTANTIATE(T)                                                                      \
  template void Adamw<KP_VARIANT, T>(const AdamwStep&, T*, const T*, float*, float*, int64_t); \
  template void Lion<KP_VARIANT, T>(const LionStep&, T*, const T*, float*, int64_t);           \
  template void Sgd<KP_VARIANT, T>(const SgdStep&, T*, const T*, float*, int64_t);             \
  template double SumOfSquares<KP_VARIANT, T>(const T*, int64_t);                              \
  template void Scale<KP_VARIANT, T>(T*, float, int64_t);
KK_OPTIMIZER_TYPES(KK_INSTANTIATE)

}  // namespace kk
