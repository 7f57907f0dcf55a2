// Numbers that carry a derivative: code written once for plain numbers also gives its derivative in a direction.
#pragma once

#include <cmath>

namespace kk {

// value + e * tangent, where e * e = 0.
template <class R>
struct Dual {
  R value = 0, tangent = 0;

  Dual() = default;
  Dual(R v, R t = 0) : value(v), tangent(t) {}  // NOLINT: numbers stand for themselves

  Dual& operator+=(Dual b) {
    value += b.value;
    tangent += b.tangent;
    return *this;
  }
  friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.tangent + b.tangent}; }
  friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.tangent - b.tangent}; }
  friend Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.tangent * b.value + a.value * b.tangent}; }
  friend Dual operator/(Dual a, Dual b) {
    const R quotient = a.value / b.value;
    return {quotient, (a.tangent - quotient * b.tangent) / b.value};
  }
  friend bool operator<(Dual a, Dual b) { return a.value < b.value; }
};

inline double Sqrt(double x) { return std::sqrt(x); }
inline long double Sqrt(long double x) { return std::sqrt(x); }
template <class R>
Dual<R> Sqrt(Dual<R> x) {
  const R root = std::sqrt(x.value);
  return {root, x.tangent / (2 * root)};
}

// The parts of a number.
template <class N>
struct RealOf {
  using Type = N;
};
template <class R>
struct RealOf<Dual<R>> {
  using Type = R;
};
template <class N>
using Real = typename RealOf<N>::Type;

}  // namespace kk
