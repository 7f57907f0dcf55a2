// Activation functions on vectors, and their derivatives. Of each the bounds make a result at infinity its limit.
#pragma once

#include "common/cpu/math.h"

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

// Beyond it exp is infinite, and silu(-x) a zero; a step outside is still in Exp's domain.
template <class S>
constexpr S kSiluEnd = sizeof(S) == sizeof(float) ? 89 : 750;

// The numerator is bounded so that -inf gives a zero, the limit, too.
template <class V>
V Silu(V x) {
  using S = decltype(x[0] + 0);
  return Max(Splat(-kSiluEnd<S>), x) / (Exp(Min(Splat(kSiluEnd<S>), -x)) + 1);
}

// With s = 1 / (1 + exp(-x)): s (1 + x (1 - s)). By way of exp(-|x|), which is at most 1.
template <class V>
struct SiluSlope {
  V sigmoid, derivative;
  explicit SiluSlope(V x) {
    using S = decltype(x[0] + 0);
    const V bounded = Max(Splat(-kSiluEnd<S>), Min(Splat(kSiluEnd<S>), x));
    const V e = Exp(-Abs(bounded)), r = 1 / (e + 1);
    const V rest = bounded > 0 ? e * r : r;
    sigmoid = bounded > 0 ? r : e * r;
    derivative = sigmoid * (1 + bounded * rest);
  }
};

// An activation and its derivative.
template <class V>
struct Both {
  V value, slope;
};

// The activations as policies. T: the storage type that the result is good for.
struct OfGelu {
  template <class T, class V>
  static V At(V x) {
    return ErfForm<T>(x);
  }
  template <class T, class V>
  static Both<V> WithSlope(V x) {
    return {ErfForm<T>(x), ErfDerivative<T>(x)};
  }
};

struct OfGeluTanh {
  template <class T, class V>
  static V At(V x) {
    return TanhForm(x);
  }
  template <class T, class V>
  static Both<V> WithSlope(V x) {
    return {TanhForm(x), TanhDerivative<T>(x)};
  }
};

// Those of row_activations.h.
struct OfSilu {
  template <class T, class V>
  static V At(V x) {
    return Silu(x);
  }
  template <class T, class V>
  static Both<V> WithSlope(V x) {
    using S = decltype(x[0] + 0);
    const SiluSlope slope(x);
    return {Max(Splat(-kSiluEnd<S>), x) * slope.sigmoid, slope.derivative};
  }
};

struct OfReluSquared {
  template <class T, class V>
  static V At(V x) {
    const V positive = Max(V{}, x);
    return positive * positive;
  }
  template <class T, class V>
  static Both<V> WithSlope(V x) {
    return {At<T>(x), Max(V{}, x) * 2};
  }
};

// With a = exp(-|x|), which is at most 1, tanh(log(1 + exp(x))) is a (a + 2) / (a (a + 2) + 2); for positive x it is
// (1 + 2a) / (1 + 2a + 2a^2).
template <class V>
struct MishSlope {
  V share, derivative;
  explicit MishSlope(V x) {
    using S = decltype(x[0] + 0);
    const V bounded = Max(Splat(-kSiluEnd<S>), Min(Splat(kSiluEnd<S>), x));
    const V a = Exp(-Abs(bounded));
    const V over = bounded > 0 ? a * 2 + 1 : a * (a + 2);
    const V r = 1 / (over + (bounded > 0 ? a * a * 2 : Splat(S{2})));
    share = over * r;
    derivative = share + bounded * (bounded > 0 ? a * a : a) * (a + 1) * 4 * r * r;
  }
};

struct OfMish {
  template <class T, class V>
  static V At(V x) {
    return WithSlope<T>(x).value;
  }
  template <class T, class V>
  static Both<V> WithSlope(V x) {
    using S = decltype(x[0] + 0);
    const MishSlope slope(x);
    return {Max(Splat(-kSiluEnd<S>), x) * slope.share, slope.derivative};
  }
};

}  // namespace
}  // namespace kk
