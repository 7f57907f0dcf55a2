// std::numeric_limits and std::hash of the element types below 32 bits (under NVRTC cuda::std::numeric_limits).
#ifndef KERNPACK_FLOAT_LIMITS_H_
#define KERNPACK_FLOAT_LIMITS_H_

#include <kernpack/small_float.h>

#ifndef __CUDACC_RTC__
#include <optional>  // declares std::hash
// C++23 deprecates the constants of subnormals, and still wants them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

KP_NAMESPACE_BEGIN
namespace detail {

// Of a type with `kMantissa` stored bits of mantissa, whose smallest normal number is 2^(kMinExponent - 1), and whose largest
// finite one, of the bits kMax, is below 2^kMaxExponent. The bits after kMax are its NaN; infinity() isn't declared.
template <class T, int kMantissa, int kMinExponent, int kMaxExponent, uint32_t kMax>
class SmallFloatLimits {
 protected:
  using Bits = typename T::Bits;
  KP_HOST_DEVICE_ static constexpr int times_log10_of_2(int exponent) { return exponent * 643 / 2136; }  // towards zero

 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = false, has_quiet_NaN = true, has_signaling_NaN = false, has_denorm_loss = false;
  static constexpr auto has_denorm = stdlib::denorm_present;
  static constexpr auto round_style = stdlib::round_to_nearest;
  static constexpr bool is_iec559 = false, is_bounded = true, is_modulo = false;
  static constexpr bool traps = false, tinyness_before = false;
  static constexpr int radix = 2, digits = kMantissa + 1;
  static constexpr int digits10 = times_log10_of_2(kMantissa), max_digits10 = times_log10_of_2(digits) + 2;
  static constexpr int min_exponent = kMinExponent, min_exponent10 = times_log10_of_2(kMinExponent - 1);
  static constexpr int max_exponent = kMaxExponent, max_exponent10 = times_log10_of_2(kMaxExponent);

  KP_HOST_DEVICE_ static constexpr T min() noexcept { return T::from_bits(Bits{1 << kMantissa}); }
  KP_HOST_DEVICE_ static constexpr T max() noexcept { return T::from_bits(Bits{kMax}); }
  KP_HOST_DEVICE_ static constexpr T lowest() noexcept { return -max(); }
  KP_HOST_DEVICE_ static constexpr T epsilon() noexcept { return T(1.0f / (1 << kMantissa)); }
  KP_HOST_DEVICE_ static constexpr T round_error() noexcept { return T(0.5f); }
  KP_HOST_DEVICE_ static constexpr T denorm_min() noexcept { return T::from_bits(Bits{1}); }
  KP_HOST_DEVICE_ static constexpr T quiet_NaN() noexcept { return T::from_bits(Bits{kMax + 1}); }
};

// The bits after kMax are its infinity.
template <class T, int kMantissa, int kMinExponent, int kMaxExponent, uint32_t kMax>
class InfiniteFloatLimits : public SmallFloatLimits<T, kMantissa, kMinExponent, kMaxExponent, kMax> {
  using Bits = typename T::Bits;
  static constexpr uint32_t kInfinity = kMax + 1, kQuiet = 1u << (kMantissa - 1);

 public:
  static constexpr bool has_infinity = true, has_signaling_NaN = true;
  static constexpr bool is_iec559 = kMantissa == 10;  // binary16

  KP_HOST_DEVICE_ static constexpr T infinity() noexcept { return T::from_bits(Bits{kInfinity}); }
  KP_HOST_DEVICE_ static constexpr T quiet_NaN() noexcept { return T::from_bits(Bits{kInfinity + kQuiet}); }
  KP_HOST_DEVICE_ static constexpr T signaling_NaN() noexcept { return T::from_bits(Bits{kInfinity + kQuiet / 2}); }
};

#ifndef __CUDACC_RTC__
// Values that are equal have equal hashes: -0 that of 0.
template <class T>
struct SmallFloatHash {
  size_t operator()(T value) const noexcept { return value == 0.0f ? 0 : value.bits(); }
};
#endif

}  // namespace detail
KP_NAMESPACE_END

// At global scope: the limits and, where there is a std, the hash of kernpack::type.
#ifdef __CUDACC_RTC__
#define KP_STD_TRAITS_(type, ...) \
  template <>                     \
  class cuda::std::numeric_limits<kernpack::type> : public kernpack::detail::__VA_ARGS__ {};
#else
#pragma GCC diagnostic pop
#define KP_STD_TRAITS_(type, ...)                                                      \
  template <>                                                                          \
  class std::numeric_limits<kernpack::type> : public kernpack::detail::__VA_ARGS__ {}; \
  template <>                                                                          \
  struct std::hash<kernpack::type> : kernpack::detail::SmallFloatHash<kernpack::type> {};
#endif

#endif  // KERNPACK_FLOAT_LIMITS_H_
