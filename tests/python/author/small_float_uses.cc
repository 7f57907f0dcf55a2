// Operations of kernels for at::Half and at::BFloat16, for test_small_float_uses.py: it compiles with each type.
#include <kernpack/float8.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <unordered_set>
#include <vector>

namespace kp = kernpack;

template <class T>
T Arithmetic(T* val, T x, int64_t n, double d, unsigned u, size_t z) {
  *val = *val + x;
  *val += x, *val -= 1.5F, *val *= 2, *val /= d;
  val[0] = x * 2, val[0] = 2 * x, val[0] = x + n, val[0] = u + x, val[0] = z * x, val[0] = x - true;
  float f = x * 0.5F;
  double g = x * d;
  f += x, g -= x;
  T zero = 0, one{1}, half = 0.5, letter = 'c', none{};
  zero = n, one = u, half = d, letter = f;
  ++zero, one--;
  return -zero + one * half / letter - none + T(g) + T(f);
}

template <class T>
T Functions(T x, T y) {
  if (std::isnan(x) || std::isinf(x) || !std::isfinite(y) || std::signbit(y)) return std::max(x, T(0));
  if (isnan(x) || isinf(x) || !isfinite(y) || signbit(y)) return copysign(fabs(x), abs(y));
  x = std::exp(x), x = std::abs(x), x = std::sqrt(x), x = std::pow(x, y), x = std::pow(x, 2.0F), x = std::fma(x, y, x);
  x = std::tanh(x) + std::floor(y) + std::round(x) + std::fmax(x, y) + std::hypot(x, 1.0F);
  return std::clamp(x, std::numeric_limits<T>::lowest(), T(6));
}

template <class T>
bool Comparisons(T x, T y, int64_t n) {
  const bool orders = x < y || x <= 0 || x == 0.5 || 1.0F >= x || n > y || x != y;
  return x ? orders : !y;
}

template <class T>
std::string Containers(T x) {
  std::unordered_set<T> seen{x};
  std::vector<T> sorted(3, x);
  std::sort(sorted.begin(), sorted.end());
  std::swap(sorted[0], sorted[1]);
  std::cout << sorted[0];
  kp::Text text;
  text << x;
  return text.c_str();
}

template <class T>
constexpr bool Rules() {
  T x = 1;
  using Bits = typename T::Bits;
  static_assert(std::is_same_v<decltype(x + x), T> && std::is_same_v<decltype(x + 1), T>);
  static_assert(std::is_same_v<decltype(x + 1.0F), float> && std::is_same_v<decltype(2.0 * x), double>);
  static_assert(std::is_trivial_v<T> && std::is_standard_layout_v<T> && sizeof(T) == sizeof(Bits) &&
                alignof(T) == alignof(Bits));
  static_assert(std::is_convertible_v<int, T> && std::is_convertible_v<double, T> && std::is_convertible_v<T, float>);
  static_assert(std::numeric_limits<T>::is_specialized && std::numeric_limits<const T>::radix == 2);
  x += 1;
  return x == 2 && T::from_bits(x.bits()) == x && T(x.bits(), T::from_bits()) == x && -x < 0 && abs(-x) == x;
}

template <class T>
int Use(T x) {
  static_assert(Rules<T>());
  Arithmetic(&x, x, 1, 2, 3, 4);
  return Comparisons(x, Functions(x, x), 1) + static_cast<int>(Containers(x).size());
}

static_assert(kp::half(1.0 / 3).bits() == 0x3555 && kp::half(65520) == std::numeric_limits<kp::half>::infinity());
static_assert(kp::half(std::numeric_limits<float>::quiet_NaN()).bits() == 0x7e00);
static_assert(kp::bfloat16{0xff7f} == 65280 &&
              kp::bfloat16::from_bits(0xff7f) == -std::numeric_limits<kp::bfloat16>::max());
static_assert(kp::half(3) * kp::bfloat16(2) == 6.0F);

int main() { return Use(kp::half(1)) + Use(kp::bfloat16(1)) + Use(kp::float8_e4m3fn(1)) + Use(kp::float8_e5m2(1)) < 0; }
