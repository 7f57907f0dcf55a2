// The last step of a product: what is added to it, its activation, and the conversion to the result's type. And the activation's
// gradient.
#include "activations/cpu/activations.h"
#include "common/cpu/row.h"
#include "linear.h"

namespace kk {
namespace {

// Rows of a wide result lie far apart: each begins with lines that no cache has, and that the processor doesn't foresee.
constexpr int64_t kStoresAhead = 16;

template <class T>
inline void FetchForStores(const T* row, int64_t count) {
  for (int64_t i = 0; i < count; i += 64 / static_cast<int64_t>(sizeof(T))) __builtin_prefetch(row + i, 1);
}

// f(g), g being the activation as a function of a vector.
template <class T, class F>
inline void WithActivation(Activation activation, F f) {
  switch (activation) {
    case Activation::kNone:
      return f([](VF x) { return x; });
    case Activation::kRelu:
      return f([](VF x) { return x < VF{} ? VF{} : x; });  // a NaN stays one
    case Activation::kSilu:
      return f([](VF x) { return Silu(x); });
    case Activation::kGelu:
      return f([](VF x) { return ErfForm<T>(x); });
    case Activation::kGeluTanh:
      return f([](VF x) { return TanhForm(x); });
  }
}

// The same for its derivative.
template <class T, class F>
inline void WithDerivative(Activation activation, F f) {
  switch (activation) {
    case Activation::kNone:
      return f([](VF) { return Splat(1.0f); });
    case Activation::kRelu:
      return f([](VF x) { return x > VF{} ? Splat(1.0f) : VF{}; });
    case Activation::kSilu:
      return f([](VF x) { return SiluSlope(x).derivative; });
    case Activation::kGelu:
      return f([](VF x) { return ErfDerivative<T>(x); });
    case Activation::kGeluTanh:
      return f([](VF x) { return TanhDerivative<T>(x); });
  }
}

}  // namespace

template <class Level, class T>
void StoreSums(const LinearResult<T>& result, int64_t n, int64_t row, int64_t rows, int64_t column, int64_t count,
               const float* sums, int64_t stride) {
  const T* bias = result.bias ? result.bias + column : nullptr;
  WithActivation<T>(result.activation, [&](auto activated) {
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = (row + r) * n + column;
      const T* residual = result.residual ? result.residual + at : nullptr;
      if (r + kStoresAhead < rows) FetchForStores(result.out + at + kStoresAhead * n, count);
      ForRow<T>(count, [&](int64_t i, auto extent) {
        VF value = Get(sums + r * stride + i, extent);
        if (bias) value += Get(bias + i, extent);
        value = activated(value);
        if (residual) value += Get(residual + i, extent);
        Put(result.out + at + i, extent, value);
      });
    }
  });
}

template <class Level, class T>
void ActivationSlopes(Activation activation, const T* d_out, const float* product, const T* bias, float* to,
                      int64_t count) {
  WithDerivative<T>(activation, [&](auto derivative) {
    ForRow<T>(count, [&](int64_t i, auto extent) {
      VF value = Get(product + i, extent);
      if (bias) value += Get(bias + i, extent);
      Put(to + i, extent, Get(d_out + i, extent) * derivative(value));
    });
  });
}

#define KK_INSTANTIATE(T)                                                                                     \
  template void StoreSums<KP_VARIANT, T>(const LinearResult<T>&, int64_t, int64_t, int64_t, int64_t, int64_t, \
                                         const float*, int64_t);                                              \
  template void ActivationSlopes<KP_VARIANT, T>(Activation, const T*, const float*, const T*, float*, int64_t);
KK_LINEAR_TYPES(KK_INSTANTIATE)

}  // namespace kk
