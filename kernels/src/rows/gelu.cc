// GELU, exact and in its tanh form.
#include "math.h"
#include "row.h"
#include "rows.h"

namespace kk {
namespace {

// x Phi(x) as max(x, 0) - |x| (1 - Phi(|x|)), which is finite for x = -inf too.
template <class T, class V>
V ErfForm(V x) {
  const V a = Min(Splat(NormalTail<T>::kEnd), Abs(x));
  return Max(V{}, x) - a * NormalTail<T>::At(a);
}

// From here on exp is inf, and the x before it not: exp(kInfinite) without a step outside Exp's domain.
template <class S>
constexpr S kInfinite = sizeof(S) == sizeof(float) ? 89 : 710;

// The tanh form is x (1 + tanh u) / 2 = x / (1 + exp(-2u)): the same number, no cancellation for negative x. This is -2u.
template <class V>
V MinusTwiceU(V x) {
  using S = decltype(x[0] + 0);
  return x * (x * x * static_cast<S>(-0.071354816272600241) + static_cast<S>(-1.5957691216057307118));
}

template <class V>
V TanhForm(V x) {
  using S = decltype(x[0] + 0);
  const V e = Exp(Min(Splat(kInfinite<S>), MinusTwiceU(x)));
  return Max(Splat(S{-64}), x) / (e + 1);  // bounded, so that -inf gives a zero too
}

// Phi(x) + x phi(x). phi is taken at x itself, so that the product is 0 where phi has vanished; the bound keeps it so at inf.
template <class T, class V>
V ErfDerivative(V x) {
  using S = decltype(x[0] + 0);
  const V end = Splat(NormalTail<T>::kEnd);
  const V bounded = Max(-end, Min(end, x));
  const V tail = NormalTail<T>::At(Abs(bounded));
  const V density = Exp(x * x * S{-0.5}) * static_cast<S>(0.39894228040143267794);
  return (x > V{} ? 1 - tail : tail) + bounded * density;
}

// With s = 1 / (1 + exp(-2u)): s + x s (1 - s) d(2u)/dx. By way of e = exp(-|2u|), which is at most 1: s (1 - s) is
// e / (1 + e)^2 for either sign of u, and nothing here overflows.
template <class T, class V>
V TanhDerivative(V x) {
  using S = decltype(x[0] + 0);
  const V bounded = Max(Splat(S{-64}), Min(Splat(S{64}), x));
  const V e = Exp(-Abs(MinusTwiceU(bounded)));
  const V r = 1 / (e + 1);
  const V slope = bounded * bounded * static_cast<S>(0.21406444881780074) + static_cast<S>(1.5957691216057307118);
  return (x > V{} ? r : e * r) + bounded * slope * (e * r * r);
}

}  // namespace

template <class Level, class T>
void Gelu(GeluKind kind, const T* x, T* out, int64_t count) {
  if (kind == GeluKind::kErf) {
    ForRow<T>(count, [&](int64_t i, auto extent) { Put(out + i, extent, ErfForm<T>(Get(x + i, extent))); });
  } else {
    ForRow<T>(count, [&](int64_t i, auto extent) { Put(out + i, extent, TanhForm(Get(x + i, extent))); });
  }
}

template <class Level, class T>
void GeluBackward(GeluKind kind, const T* d_out, const T* x, T* d_x, int64_t count) {
  if (kind == GeluKind::kErf) {
    ForRow<T>(count, [&](int64_t i, auto extent) {
      Put(d_x + i, extent, Get(d_out + i, extent) * ErfDerivative<T>(Get(x + i, extent)));
    });
  } else {
    ForRow<T>(count, [&](int64_t i, auto extent) {
      Put(d_x + i, extent, Get(d_out + i, extent) * TanhDerivative<T>(Get(x + i, extent)));
    });
  }
}

#define KK_INSTANTIATE(T)                                             \
  template void Gelu<KP_VARIANT, T>(GeluKind, const T*, T*, int64_t); \
  template void GeluBackward<KP_VARIANT, T>(GeluKind, const T*, const T*, T*, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
