// The arithmetic of the element types below 32 bits, half.h and float8.h: that of float, each result rounded once.
#ifndef KERNPACK_SMALL_FLOAT_H_
#define KERNPACK_SMALL_FLOAT_H_

#include <kernpack/small_float_bits.h>

KP_NAMESPACE_BEGIN
namespace detail {

// True for a type of another library whose values have the bits of T's: __half (kernpack/cuda_types.h).
template <class Other, class T>
inline constexpr bool has_bits_of = false;

// The type of `T op N`: N for a floating-point type; T for an integer, as a literal shouldn't widen a result.
template <class T, class N>
using Mixed =
    stdlib::enable_if_t<stdlib::is_arithmetic_v<N>, stdlib::conditional_t<stdlib::is_floating_point_v<N>, N, T>>;

#define KP_SMALL_FLOAT_OPERATOR_(op)                                                                                \
  KP_HOST_DEVICE_ friend constexpr T operator op(T a, T b) {                                                        \
    return T(static_cast<float>(a) op static_cast<float>(b));                                                       \
  }                                                                                                                 \
  template <class N>                                                                                                \
  KP_HOST_DEVICE_ friend constexpr Mixed<T, N> operator op(T a, N b) {                                              \
    return static_cast<Mixed<T, N>>(a) op static_cast<Mixed<T, N>>(b);                                              \
  }                                                                                                                 \
  template <class N>                                                                                                \
  KP_HOST_DEVICE_ friend constexpr Mixed<T, N> operator op(N a, T b) {                                              \
    return static_cast<Mixed<T, N>>(a) op static_cast<Mixed<T, N>>(b);                                              \
  }                                                                                                                 \
  KP_HOST_DEVICE_ friend constexpr T& operator op##=(T & a, T b) { return a = a op b; }                             \
  template <class N>                                                                                                \
  KP_HOST_DEVICE_ friend constexpr stdlib::enable_if_t<stdlib::is_arithmetic_v<N>, T&> operator op##=(T & a, N b) { \
    return a = T(a op b);                                                                                           \
  }

// Comparisons of floats; declared, as else those of __half would fit as well.
#define KP_SMALL_FLOAT_COMPARISON_(op)                                                                           \
  KP_HOST_DEVICE_ friend constexpr bool operator op(T a, T b) {                                                  \
    return static_cast<float>(a) op static_cast<float>(b);                                                       \
  }                                                                                                              \
  template <class N>                                                                                             \
  KP_HOST_DEVICE_ friend constexpr stdlib::enable_if_t<stdlib::is_arithmetic_v<N>, bool> operator op(T a, N b) { \
    return static_cast<float>(a) op b;                                                                           \
  }                                                                                                              \
  template <class N>                                                                                             \
  KP_HOST_DEVICE_ friend constexpr stdlib::enable_if_t<stdlib::is_arithmetic_v<N>, bool> operator op(N a, T b) { \
    return a op static_cast<float>(b);                                                                           \
  }

// The base of T, which has narrow(float) and widen(bits). It converts from any number, rounding to nearest, ties to even, and
// to float; other conversions and comparisons go through float. An integer is a number too: bits are from_bits(b) and bits().
template <class T, class B>
struct SmallFloat {
  using Bits = B;
  B x;

  struct from_bits_t {};
  KP_HOST_DEVICE_ static constexpr from_bits_t from_bits() { return {}; }
  KP_HOST_DEVICE_ static constexpr T from_bits(B bits) { return T(bits, from_bits_t()); }
  KP_HOST_DEVICE_ constexpr B bits() const { return x; }

  SmallFloat() = default;
  KP_HOST_DEVICE_ constexpr SmallFloat(B bits, from_bits_t) : x(bits) {}
  KP_HOST_DEVICE_ constexpr SmallFloat(float value) : x(T::narrow(value)) {}
  template <class N, stdlib::enable_if_t<stdlib::is_arithmetic_v<N>, int> = 0>
  KP_HOST_DEVICE_ constexpr SmallFloat(N value) : x(T::narrow(float_for_rounding(value))) {}
  template <class Other, stdlib::enable_if_t<has_bits_of<Other, T>, int> = 0>
  KP_HOST_DEVICE_ SmallFloat(const Other& value) : x(__builtin_bit_cast(B, value)) {}

  KP_HOST_DEVICE_ constexpr operator float() const { return T::widen(x); }
  template <class Other, stdlib::enable_if_t<has_bits_of<Other, T>, int> = 0>
  KP_HOST_DEVICE_ operator Other() const {
    return __builtin_bit_cast(Other, x);
  }

  KP_SMALL_FLOAT_OPERATOR_(+)
  KP_SMALL_FLOAT_OPERATOR_(-)
  KP_SMALL_FLOAT_OPERATOR_(*)
  KP_SMALL_FLOAT_OPERATOR_(/)
  KP_SMALL_FLOAT_COMPARISON_(==)
  KP_SMALL_FLOAT_COMPARISON_(!=)
  KP_SMALL_FLOAT_COMPARISON_(<)
  KP_SMALL_FLOAT_COMPARISON_(<=)
  KP_SMALL_FLOAT_COMPARISON_(>)
  KP_SMALL_FLOAT_COMPARISON_(>=)
  KP_HOST_DEVICE_ friend constexpr T operator-(T a) { return from_bits(static_cast<B>(a.x ^ kSign)); }
  KP_HOST_DEVICE_ friend constexpr T& operator++(T& a) { return a = a + T(1.0f); }
  KP_HOST_DEVICE_ friend constexpr T& operator--(T& a) { return a = a - T(1.0f); }
  KP_HOST_DEVICE_ friend constexpr T operator++(T& a, int) {
    const T before = a;
    ++a;
    return before;
  }
  KP_HOST_DEVICE_ friend constexpr T operator--(T& a, int) {
    const T before = a;
    --a;
    return before;
  }

  // Found where they are called without std::, which might otherwise be C's abs(int). They look at bits, so they hold with
  // -ffast-math too.
  KP_HOST_DEVICE_ friend constexpr T abs(T a) { return from_bits(static_cast<B>(a.x & ~kSign)); }
  KP_HOST_DEVICE_ friend constexpr T fabs(T a) { return abs(a); }
  KP_HOST_DEVICE_ friend constexpr T copysign(T a, T sign) {
    return from_bits(static_cast<B>((a.x & ~kSign) | (sign.x & kSign)));
  }
  KP_HOST_DEVICE_ friend constexpr bool signbit(T a) { return (a.x & kSign) != 0; }
  KP_HOST_DEVICE_ friend constexpr bool isnan(T a) { return magnitude_bits(a) > kFloatInfinity; }
  KP_HOST_DEVICE_ friend constexpr bool isinf(T a) { return magnitude_bits(a) == kFloatInfinity; }
  KP_HOST_DEVICE_ friend constexpr bool isfinite(T a) { return magnitude_bits(a) < kFloatInfinity; }

 private:
  static constexpr B kSign = static_cast<B>(1u << (8 * sizeof(B) - 1));
};
#undef KP_SMALL_FLOAT_OPERATOR_
#undef KP_SMALL_FLOAT_COMPARISON_

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_SMALL_FLOAT_H_
