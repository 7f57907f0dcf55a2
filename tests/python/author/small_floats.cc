// The element types below 32 bits, for test_small_floats.py and test_small_float_numbers.py.
#include <kernpack/float8.h>

#include <cmath>
#include <cstdio>
#include <sstream>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

template <class T>
static void Widen(const void* bits, float* out, long n) {
  for (long i = 0; i < n; ++i) out[i] = static_cast<const T*>(bits)[i];
}
template <class T>
static void Narrow(const float* in, void* out, long n) {
  for (long i = 0; i < n; ++i) static_cast<T*>(out)[i] = T(in[i]);
}
template <class T, class From>
static void Convert(const From* in, T* out, long n) {
  for (long i = 0; i < n; ++i) out[i] = in[i];
}
// Four rows of sums, differences, products, quotients: by operators, then by compound assignment.
template <class T>
static void Arithmetic(const T* a, const T* b, T* out, long n) {
  for (long i = 0; i < n; ++i) {
    out[i] = a[i] + b[i], out[n + i] = a[i] - b[i], out[2 * n + i] = a[i] * b[i], out[3 * n + i] = a[i] / b[i];
    for (long row = 4; row < 8; ++row) out[row * n + i] = a[i];
    out[4 * n + i] += b[i], out[5 * n + i] -= b[i], out[6 * n + i] *= b[i], out[7 * n + i] /= b[i];
  }
}
// Bits of a < b, a <= b, a == b, a != b, and of a's class: NaN, infinite, finite, negative, as the standard library and as found
// without std::.
template <class T>
static void Compare(const T* a, const T* b, int* out, long n) {
  for (long i = 0; i < n; ++i) {
    const T x = a[i];
    const bool bits[] = {x < b[i],
                         x <= b[i],
                         x == b[i],
                         x != b[i],
                         std::isnan(x),
                         std::isinf(x),
                         std::isfinite(x),
                         std::signbit(x),
                         isnan(x),
                         isinf(x),
                         isfinite(x),
                         signbit(x),
                         x > b[i],
                         x >= b[i],
                         abs(x) >= T(0) || isnan(x),
                         -x == T(0) - x || isnan(x)};
    out[i] = 0;
    for (int bit = 0; bit < 16; ++bit) out[i] |= bits[bit] << bit;
  }
}
template <class T>
static void Limits(double* out) {
  using L = std::numeric_limits<T>;
  const double values[] = {L::min(),          L::max(),          L::lowest(),     L::epsilon(),
                           L::denorm_min(),   L::round_error(),  L::quiet_NaN(),  L::digits,
                           L::digits10,       L::max_digits10,   L::min_exponent, L::max_exponent,
                           L::min_exponent10, L::max_exponent10, L::has_infinity, L::is_specialized};
  for (double value : values) *out++ = value;
  if constexpr (L::has_infinity) *out++ = L::infinity(), *out++ = L::signaling_NaN();
}
template <class T>
static void Print(const T* value, char* out) {
  std::ostringstream stream;
  stream << *value;
  std::snprintf(out, 64, "%s %s", stream.str().c_str(), (kernpack::Text() << *value).c_str());
}

#define TEST_EXPORT extern "C" __attribute__((visibility("default")))
#define TEST_TYPE(type)                                                                                               \
  TEST_EXPORT void widen_##type(const void* bits, float* out, long n) { Widen<kernpack::type>(bits, out, n); }        \
  TEST_EXPORT void narrow_##type(const float* in, void* out, long n) { Narrow<kernpack::type>(in, out, n); }          \
  TEST_EXPORT void from_f64_##type(const double* in, kernpack::type* out, long n) { Convert(in, out, n); }            \
  TEST_EXPORT void from_i64_##type(const int64_t* in, kernpack::type* out, long n) { Convert(in, out, n); }           \
  TEST_EXPORT void from_u64_##type(const uint64_t* in, kernpack::type* out, long n) { Convert(in, out, n); }          \
  TEST_EXPORT void from_i32_##type(const int* in, kernpack::type* out, long n) { Convert(in, out, n); }               \
  TEST_EXPORT void from_i16_##type(const short* in, kernpack::type* out, long n) { Convert(in, out, n); }             \
  TEST_EXPORT void arithmetic_##type(const kernpack::type* a, const kernpack::type* b, kernpack::type* out, long n) { \
    Arithmetic(a, b, out, n);                                                                                         \
  }                                                                                                                   \
  TEST_EXPORT void compare_##type(const kernpack::type* a, const kernpack::type* b, int* out, long n) {               \
    Compare(a, b, out, n);                                                                                            \
  }                                                                                                                   \
  TEST_EXPORT void limits_##type(double* out) { Limits<kernpack::type>(out); }                                        \
  TEST_EXPORT size_t hash_##type(unsigned bits) {                                                                     \
    return std::hash<kernpack::type>()(kernpack::type::from_bits(static_cast<kernpack::type::Bits>(bits)));           \
  }                                                                                                                   \
  TEST_EXPORT void print_##type(const kernpack::type* value, char* out) { Print(value, out); }
TEST_TYPE(half)
TEST_TYPE(bfloat16)
TEST_TYPE(float8_e4m3fn)
TEST_TYPE(float8_e5m2)

// Turns flush-to-zero of subnormal floats on or off for this thread; returns 0 if the test doesn't know how.
TEST_EXPORT int flush_subnormals(int on) {
#if defined(__SSE__)
  _mm_setcsr(on ? _mm_getcsr() | 0x8040U : _mm_getcsr() & ~0x8040U);
  return 1;
#else
  return on * 0;
#endif
}
