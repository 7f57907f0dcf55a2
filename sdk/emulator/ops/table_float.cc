// Table: arithmetic of f32, f64, f16, bf16 and pairs of the small ones; functions. What the hardware approximates is computed
// here to the last bit or nearly so, which lies within every documented bound. Which NaN comes of NaNs is as seen on an H200.
#include "ops/float.h"
#include "ops/host_fma.h"
#include "ops/small_float.h"

namespace kernpack::emulator::KP_ISA {
namespace {

struct AddF {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct SubF {
  template <class T>
  T operator()(T a, T b) const {
    return b != b ? b + b : a - b;
  }
};
struct MulF {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
  static float Scaled(float a, float b) { return a * kScale * b; }
};
struct DivF {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
  static float Scaled(float a, float b) { return a * kScale / b; }
};
struct FmaF {
  template <class T>
  T operator()(T a, T b, T c) const {
    return HostFma(a, b, c);
  }
  static float Scaled(float a, float b, float c) { return HostFma(a * kScale, b, c * kScale); }
};
struct NegF {
  template <class T>
  T operator()(T a) const {
    return -a;
  }
};
struct AbsF {
  template <class T>
  T operator()(T a) const {
    return a < 0 || (a == 0) ? (a == 0 ? T(0) : -a) : a;
  }
};
struct SqrtF {
  float operator()(float a) const { return __builtin_sqrtf(a); }
  double operator()(double a) const { return __builtin_sqrt(a); }
};
struct RsqrtF {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(1.0 / __builtin_sqrt(static_cast<double>(a)));
  }
};
struct RcpF {
  template <class T>
  T operator()(T a) const {
    return T(1) / a;
  }
  static float Scaled(float a) { return kScale / a; }
};
struct Ex2F {
  float operator()(float a) const { return static_cast<float>(std::exp2(static_cast<double>(a))); }
};
struct Lg2F {
  float operator()(float a) const { return static_cast<float>(std::log2(static_cast<double>(a))); }
};
// The part of a turn that a is. A GPU multiplies in f32, toward zero, before it looks up sine and cosine: the larger a is the less is
// left of it, as seen on an H200.
inline double Turn(float a) {
  const double turns = static_cast<double>(a) * static_cast<double>(0x1.45f306p-3F);  // exact
  const auto nearest = static_cast<float>(turns);
  const bool above = __builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(turns);
  const double wide = __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, nearest) - uint32_t{above});
  return 6.283185307179586 * (wide - __builtin_nearbyint(wide));
}
struct SinF {
  float operator()(float a) const { return static_cast<float>(std::sin(Turn(a))); }
};
struct CosF {
  float operator()(float a) const { return static_cast<float>(std::cos(Turn(a))); }
};
struct TanhF {
  float operator()(float a) const { return static_cast<float>(std::tanh(static_cast<double>(a))); }
};

// The other operand where one is NaN; -0 lies below +0.
struct MinF {
  template <class T>
  T operator()(T a, T b) const {
    if (a != a) return b != b ? b + b : b;
    if (b != b) return a;
    return a < b || (a == b && std::signbit(a)) ? a : b;
  }
};
struct MaxF {
  template <class T>
  T operator()(T a, T b) const {
    if (a != a) return b != b ? b + b : b;
    if (b != b) return a;
    return a > b || (a == b && !std::signbit(a)) ? a : b;
  }
};
template <class F>
struct OrNan {
  template <class T>
  T operator()(T a, T b) const {
    return a != a ? a : b != b ? b : F()(a, b);
  }
};
template <class T, class F>
void Extreme(Warp& warp, const Instruction& i, uint32_t mask) {
  return (i.flags & kPropagateNan) != 0 ? Float2<T, OrNan<F>>(warp, i, mask) : Float2<T, F>(warp, i, mask);
}

// div.approx: beyond 2^126 the divisor's reciprocal is subnormal, which the hardware takes for 0.
void DivideF32(Warp& warp, const Instruction& i, uint32_t mask) {
  if ((i.flags & kApprox) == 0) return Float2<float, DivF>(warp, i, mask);
  const uint32_t flags = i.flags;
  Map2<float, float, float>(warp, i, mask, [flags](float a, float b) {
    a = Start(a, flags), b = Start(b, flags);
    const float size = __builtin_fabsf(b);
    return Finish(size > 0x1p126F && size < __builtin_inff() ? a * __builtin_copysignf(0.0F, b) : a / b, flags);
  });
}
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read the upper half of their operand and give the upper half of a result.
inline double Upper(double value) {
  const auto bits = __builtin_bit_cast(uint64_t, value);
  const uint64_t kept = bits & 0xffffffff00000000U;
  return __builtin_bit_cast(double, (bits & 0x7ff0000000000000U) == 0 ? bits & 0x8000000000000000U : kept);
}
template <class F>
void CoarseF64(Warp& warp, const Instruction& i, uint32_t mask) {
  if ((i.flags & (kApprox | kFtz)) != (kApprox | kFtz)) return Float1<double, F>(warp, i, mask);
  Map1<double, double>(warp, i, mask, [](double a) {
    const double upper = Upper(a);
    return upper != upper ? __builtin_nan("") : Upper(F()(upper));
  });
}

// The sign is b's and the rest a's: PTX has the sign's operand first.
struct CopySign {
  float operator()(float a, float b) const { return __builtin_copysignf(b, a); }
  double operator()(double a, double b) const { return __builtin_copysign(b, a); }
};
template <class T>
void CopySigns(Warp& warp, const Instruction& i, uint32_t mask) {
  Map2<T, T, T>(warp, i, mask, CopySign());
}
// neg and abs of a NaN: that of arithmetic.
template <class T, class F>
void Bits1(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t flags = i.flags;
  Map1<T, T>(warp, i, mask, [flags](T a) { return a != a ? Canonical(a + a) : F()(Start(a, flags)); });
}

// A function of small floats: in double, rounded once.
template <class S>
inline uint16_t Rounded(double value, uint32_t flags) {
  if ((flags & kSat) != 0) value = Saturated(value);
  if ((flags & kRelu) != 0 && value <= 0) value = 0;  // -0 too, as by max
  const uint16_t out = S::Write(value, (flags & kRoundZero) != 0);
  // See FinishResult: what is nearer to the number below the least normal one, had it as many bits.
  constexpr double kLeast = S::kLeast * (1 - 0.25 / (1 << S::kMantissa));
  return (flags & kFtz) != 0 && __builtin_fabs(value) < kLeast ? out & 0x8000 : out;
}
template <class S>
inline double Given(uint16_t bits, uint32_t flags) {
  if ((flags & kFtz) != 0 && (bits & S::kInfinity) == 0) bits &= 0x8000;
  return S::Read(bits);
}

template <class S, class F>
struct Small1 {
  uint32_t flags;
  uint16_t operator()(uint16_t a) const { return Rounded<S>(F()(Given<S>(a, flags)), flags); }
  uint32_t operator()(uint32_t a) const { return uint32_t((*this)(uint16_t(a >> 16))) << 16 | (*this)(uint16_t(a)); }
};
template <class S, class F>
struct Small2 {
  uint32_t flags;
  uint16_t operator()(uint16_t a, uint16_t b) const {
    return Rounded<S>(F()(Given<S>(a, flags), Given<S>(b, flags)), flags);
  }
  uint32_t operator()(uint32_t a, uint32_t b) const {
    return uint32_t((*this)(uint16_t(a >> 16), uint16_t(b >> 16))) << 16 | (*this)(uint16_t(a), uint16_t(b));
  }
};
template <class S>
struct Small3 {
  uint32_t flags;
  uint16_t operator()(uint16_t a, uint16_t b, uint16_t c) const {
    return Rounded<S>(FusedForSmall(Given<S>(a, flags), Given<S>(b, flags), Given<S>(c, flags)), flags);
  }
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return uint32_t((*this)(uint16_t(a >> 16), uint16_t(b >> 16), uint16_t(c >> 16))) << 16 |
           (*this)(uint16_t(a), uint16_t(b), uint16_t(c));
  }
};
// T is uint16_t, or uint32_t for a pair.
template <class S, class T, class F>
void SmallUnary(Warp& warp, const Instruction& i, uint32_t mask) {
  Map1<T, T>(warp, i, mask, Small1<S, F>{i.flags});
}
template <class S, class T, class F>
void SmallBinary(Warp& warp, const Instruction& i, uint32_t mask) {
  Map2<T, T, T>(warp, i, mask, Small2<S, F>{i.flags});
}
template <class S, class T>
void SmallFma(Warp& warp, const Instruction& i, uint32_t mask) {
  Map3<T, T, T, T>(warp, i, mask, Small3<S>{i.flags});
}
template <class S, class T, class F>
void SmallExtreme(Warp& warp, const Instruction& i, uint32_t mask) {
  if ((i.flags & kPropagateNan) != 0) return Map2<T, T, T>(warp, i, mask, Small2<S, OrNan<F>>{i.flags});
  Map2<T, T, T>(warp, i, mask, Small2<S, F>{i.flags});
}
template <class S, bool kAbs>
struct SignOf {
  uint16_t operator()(uint16_t a) const {
    return (a & 0x7fff) > S::kInfinity ? S::kNan : kAbs ? a & 0x7fff : a ^ 0x8000;
  }
  uint32_t operator()(uint32_t a) const { return uint32_t((*this)(uint16_t(a >> 16))) << 16 | (*this)(uint16_t(a)); }
};
template <class S, class T, bool kAbs>
void SmallSign(Warp& warp, const Instruction& i, uint32_t mask) {
  Map1<T, T>(warp, i, mask, SignOf<S, kAbs>());
}
struct Ex2D {
  double operator()(double a) const { return std::exp2(a); }
};
struct TanhD {
  double operator()(double a) const { return std::tanh(a); }
};

constexpr Held F = Held::kFloat, D = Held::kDouble, W = Held::kWord;
constexpr uint32_t kSmallFlags = kFtz | kSat | kRelu | kRoundZero;

#define KP_FLOAT2(name, Fn)                                    \
  {name ".f32", &Float2<float, Fn>, kFloatFlags, {F, F, F}}, { \
    name ".f64", &Float2<double, Fn>, kRounding, { D, D, D }   \
  }
#define KP_FLOAT1(name, Fn)                                      \
  {name ".f32", &Float1<float, Fn>, kFtz | kRounding, {F, F}}, { \
    name ".f64", &Float1<double, Fn>, kFtz | kRounding, { D, D } \
  }
#define KP_SMALL2(name, Fn)                                                        \
  {name ".f16", &SmallBinary<Half, uint16_t, Fn>, kSmallFlags, {W, W, W}},         \
      {name ".f16x2", &SmallBinary<Half, uint32_t, Fn>, kSmallFlags, {W, W, W}},   \
      {name ".bf16", &SmallBinary<Brain, uint16_t, Fn>, kSmallFlags, {W, W, W}}, { \
    name ".bf16x2", &SmallBinary<Brain, uint32_t, Fn>, kSmallFlags, { W, W, W }    \
  }
#define KP_EXTREME(name, Fn)                                                                 \
  {name ".f32", &Extreme<float, Fn>, kFtz | kPropagateNan, {F, F, F}},                       \
      {name ".f64", &Extreme<double, Fn>, 0, {D, D, D}},                                     \
      {name ".f16", &SmallExtreme<Half, uint16_t, Fn>, kFtz | kPropagateNan, {W, W, W}},     \
      {name ".f16x2", &SmallExtreme<Half, uint32_t, Fn>, kFtz | kPropagateNan, {W, W, W}},   \
      {name ".bf16", &SmallExtreme<Brain, uint16_t, Fn>, kFtz | kPropagateNan, {W, W, W}}, { \
    name ".bf16x2", &SmallExtreme<Brain, uint32_t, Fn>, kFtz | kPropagateNan, { W, W, W }    \
  }
#define KP_SIGN(name, kAbs)                                            \
  {name ".f16", &SmallSign<Half, uint16_t, kAbs>, kFtz, {W, W}},       \
      {name ".f16x2", &SmallSign<Half, uint32_t, kAbs>, kFtz, {W, W}}, \
      {name ".bf16", &SmallSign<Brain, uint16_t, kAbs>, 0, {W, W}}, {  \
    name ".bf16x2", &SmallSign<Brain, uint32_t, kAbs>, 0, { W, W }     \
  }
#define KP_SMALL1(name, Fn)                                             \
  {name ".f16", &SmallUnary<Half, uint16_t, Fn>, kFtz, {W, W}},         \
      {name ".f16x2", &SmallUnary<Half, uint32_t, Fn>, kFtz, {W, W}},   \
      {name ".bf16", &SmallUnary<Brain, uint16_t, Fn>, kFtz, {W, W}}, { \
    name ".bf16x2", &SmallUnary<Brain, uint32_t, Fn>, kFtz, { W, W }    \
  }

constexpr Row kRows[] = {
    KP_FLOAT2("add", AddF),
    KP_FLOAT2("sub", SubF),
    KP_FLOAT2("mul", MulF),
    {"div.f32", &DivideF32, kFloatFlags | kApprox, {F, F, F}},
    {"div.f64", &Float2<double, DivF>, kRounding, {D, D, D}},
    {"fma.f32", &Float3<float, FmaF>, kFloatFlags, {F, F, F, F}},
    {"fma.f64", &Float3<double, FmaF>, kRounding, {D, D, D, D}},
    {"mad.f32", &Float3<float, FmaF>, kFloatFlags, {F, F, F, F}},
    {"mad.f64", &Float3<double, FmaF>, kRounding, {D, D, D, D}},
    KP_EXTREME("min", MinF),
    KP_EXTREME("max", MaxF),
    KP_FLOAT1("sqrt", SqrtF),
    {"rsqrt.f32", &Float1<float, RsqrtF>, kFtz, {F, F}},
    {"rsqrt.f64", &CoarseF64<RsqrtF>, kFtz | kApprox, {D, D}},
    {"rcp.f32", &Float1<float, RcpF>, kFtz | kRounding, {F, F}},
    {"rcp.f64", &CoarseF64<RcpF>, kFtz | kApprox | kRounding, {D, D}},
    {"ex2.f32", &Float1<float, Ex2F>, kFtz, {F, F}},
    {"lg2.f32", &Float1<float, Lg2F>, kFtz, {F, F}},
    {"sin.f32", &Float1<float, SinF>, kFtz, {F, F}},
    {"cos.f32", &Float1<float, CosF>, kFtz, {F, F}},
    {"tanh.f32", &Float1<float, TanhF>, 0, {F, F}},
    {"neg.f32", &Bits1<float, NegF>, kFtz, {F, F}},
    {"neg.f64", &Bits1<double, NegF>, 0, {D, D}},
    {"abs.f32", &Bits1<float, AbsF>, kFtz, {F, F}},
    {"abs.f64", &Bits1<double, AbsF>, 0, {D, D}},
    {"copysign.f32", &CopySigns<float>, 0, {F, F, F}},
    {"copysign.f64", &CopySigns<double>, 0, {D, D, D}},
    KP_SMALL2("add", AddF),
    KP_SMALL2("sub", SubF),
    KP_SMALL2("mul", MulF),
    {"fma.f16", &SmallFma<Half, uint16_t>, kSmallFlags, {W, W, W, W}},
    {"fma.f16x2", &SmallFma<Half, uint32_t>, kSmallFlags, {W, W, W, W}},
    {"fma.bf16", &SmallFma<Brain, uint16_t>, kSmallFlags, {W, W, W, W}},
    {"fma.bf16x2", &SmallFma<Brain, uint32_t>, kSmallFlags, {W, W, W, W}},
    KP_SIGN("neg", false),
    KP_SIGN("abs", true),
    KP_SMALL1("ex2", Ex2D),
    KP_SMALL1("tanh", TanhD),
};

}  // namespace

extern const Table kFloatTable;
const Table kFloatTable{kRows, sizeof kRows / sizeof kRows[0]};

}  // namespace kernpack::emulator::KP_ISA
