// silu(gate) * up of one row, and its gradient.
#include "swiglu.h"

#include "../rows/math.h"
#include "../rows/row.h"

namespace kk {
namespace {

// Beyond it exp is infinite, and silu(-x) a zero; a step outside is still in Exp's domain.
template <class S>
constexpr S kEnd = sizeof(S) == sizeof(float) ? 89 : 750;

// The numerator is bounded so that -inf gives a zero, the limit, too.
template <class V>
V Silu(V x) {
  using S = decltype(x[0] + 0);
  return Max(Splat(-kEnd<S>), x) / (Exp(Min(Splat(kEnd<S>), -x)) + 1);
}

}  // namespace

template <class Level, class T>
void Swiglu(const T* gate, const T* up, T* out, int64_t count) {
  ForRow<T>(count,
            [&](int64_t i, auto extent) { Put(out + i, extent, Silu(Get(gate + i, extent)) * Get(up + i, extent)); });
}

// With s = 1 / (1 + exp(-x)): silu' = s (1 + x (1 - s)). By way of exp(-|x|), which is at most 1.
template <class Level, class T>
void SwigluBackward(const T* d_out, const T* gate, const T* up, T* d_gate, T* d_up, int64_t count) {
  using S = typename Pack<T>::S;
  ForRow<T>(count, [&](int64_t i, auto extent) {
    const auto d = Get(d_out + i, extent), x = Get(gate + i, extent), u = Get(up + i, extent);
    const auto bounded = Max(Splat(-kEnd<S>), Min(Splat(kEnd<S>), x));
    const auto e = Exp(-Abs(bounded)), r = 1 / (e + 1);
    const auto s = bounded > 0 ? r : e * r, rest = bounded > 0 ? e * r : r;
    Put(d_gate + i, extent, d * u * s * (1 + bounded * rest));
    Put(d_up + i, extent, d * Max(Splat(-kEnd<S>), x) * s);
  });
}

#define KK_INSTANTIATE(T)                                               \
  template void Swiglu<KP_VARIANT, T>(const T*, const T*, T*, int64_t); \
  template void SwigluBackward<KP_VARIANT, T>(const T*, const T*, const T*, T*, T*, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
