// Floating-point arithmetic under the modifiers .ftz, .sat and the rounding modes.
#ifndef KERNPACK_SDK_EMULATOR_OPS_FLOAT_H_
#define KERNPACK_SDK_EMULATOR_OPS_FLOAT_H_

#include <cfenv>
#include <cmath>

#include "ops/lanes.h"

namespace kernpack::emulator::KP_ISA {

// The NaN that a GPU's float arithmetic gives, whatever came in. Doubles keep the host's.
inline float Canonical(float value) { return value == value ? value : __builtin_bit_cast(float, 0x7fffffffU); }
inline double Canonical(double value) { return value; }

inline float Flushed(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  return (bits & 0x7f800000U) == 0 ? __builtin_bit_cast(float, bits & 0x80000000U) : value;
}
inline double Flushed(double value) { return value; }

template <class T>
inline T Saturated(T value) {
  return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);  // NaN gives 0
}

// The host's rounding mode while this lives.
class Rounding {
 public:
  explicit Rounding(uint32_t flags) : set_((flags & kRounding) != 0) {
    if (!set_) return;
    before_ = std::fegetround();
    std::fesetround((flags & kRoundZero) != 0 ? FE_TOWARDZERO : (flags & kRoundUp) != 0 ? FE_UPWARD : FE_DOWNWARD);
  }
  ~Rounding() {
    if (set_) std::fesetround(before_);
  }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;

 private:
  bool set_;
  int before_ = 0;
};

constexpr uint32_t kFloatFlags = kFtz | kSat | kRounding;

template <class T>
inline T Finish(T value, uint32_t flags) {
  value = Canonical(value);
  if ((flags & kFtz) != 0) value = Flushed(value);
  return (flags & kSat) != 0 ? Saturated(value) : value;
}
// .ftz flushes results that would be below the least normal number if exponents were unbounded. This includes a result that rounds up to
// that number only because subnormal numbers are coarser, as seen on an H200. F returns its result times 2^64, which has no subnormal numbers.
constexpr float kScale = 0x1p64F;
template <class F, class T, class... Operands>
inline T FinishResult(uint32_t flags, Operands... operands) {
  T value = F()(operands...);
  if constexpr (sizeof(T) == 4 && requires { F::Scaled(operands...); }) {
    const bool tiny = (flags & kFtz) != 0 && __builtin_fabsf(F::Scaled(operands...)) < 0x1p-126F * kScale;
    value = tiny ? __builtin_copysignf(0.0F, value) : value;
  }
  return Finish(value, flags);
}
template <class T>
inline T Start(T value, uint32_t flags) {
  return (flags & kFtz) != 0 ? Flushed(value) : value;
}

template <class T, class F>
void Float1(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t flags = i.flags;
  if (flags == 0) return Map1<T, T>(warp, i, mask, [](T a) { return Canonical(F()(a)); });
  const Rounding rounding(flags);
  Map1<T, T>(warp, i, mask, [flags](T a) { return FinishResult<F, T>(flags, Start(a, flags)); });
}
template <class T, class F>
void Float2(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t flags = i.flags;
  if (flags == 0) return Map2<T, T, T>(warp, i, mask, [](T a, T b) { return Canonical(F()(a, b)); });
  const Rounding rounding(flags);
  Map2<T, T, T>(warp, i, mask,
                [flags](T a, T b) { return FinishResult<F, T>(flags, Start(a, flags), Start(b, flags)); });
}
template <class T, class F>
void Float3(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t flags = i.flags;
  if (flags == 0) return Map3<T, T, T, T>(warp, i, mask, [](T a, T b, T c) { return Canonical(F()(a, b, c)); });
  const Rounding rounding(flags);
  Map3<T, T, T, T>(warp, i, mask, [flags](T a, T b, T c) {
    return FinishResult<F, T>(flags, Start(a, flags), Start(b, flags), Start(c, flags));
  });
}

}  // namespace kernpack::emulator::KP_ISA

#endif  // KERNPACK_SDK_EMULATOR_OPS_FLOAT_H_
