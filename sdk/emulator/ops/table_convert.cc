// Table: moves and conversions between types. Which NaN comes of a NaN is as seen on an H200.
#include <type_traits>

#include "ops/float.h"
#include "ops/integer.h"
#include "ops/small_float.h"

namespace kernpack::emulator::KP_ISA {
namespace {

// A type of cvt: what a register holds, and what is computed with.
template <class T>
struct Number {
  using Raw = T;
  static constexpr bool kFloat = false;
  static T Read(T raw, uint32_t /*flags*/) { return raw; }
};
template <class T>
struct Real {
  using Raw = T;
  static constexpr bool kFloat = true;
  // A NaN is that of arithmetic then.
  static T Read(T raw, uint32_t flags) { return (flags & kFtz) != 0 ? Flushed(Canonical(raw)) : raw; }
  static T Write(double value, uint32_t /*flags*/) { return Canonical(static_cast<T>(value)); }
};
template <class S>
struct Tiny {
  using Small = S;
  using Raw = uint16_t;
  static constexpr bool kFloat = true;
  static double Read(uint16_t raw, uint32_t /*flags*/) { return S::Read(raw); }
  static uint16_t Write(double value, uint32_t flags) {
    if ((flags & kRelu) != 0 && value <= 0) value = 0;  // -0 too, as by max
    return S::Write(value, (flags & kRoundZero) != 0);
  }
};

// To an integral value, by the current rounding mode.
inline double Integral(double value) { return __builtin_nearbyint(value); }

// Beyond the range: the nearest end. NaN: 0, or the least value where 64 bits are involved.
template <class D>
inline D ToInteger(double value, bool wide_source) {
  if (value != value) return sizeof(D) == 8 || wide_source ? static_cast<D>(uint64_t{1} << (kBits<D> - 1)) : D(0);
  constexpr double kLimit =
      kSignedType<D> ? double(uint64_t{1} << (kBits<D> - 1)) : 2.0 * double(uint64_t{1} << (kBits<D> - 1));
  constexpr D kMost =
      kSignedType<D> ? static_cast<D>((uint64_t{1} << (kBits<D> - 1)) - 1) : static_cast<D>(~uint64_t{0});
  constexpr D kLeast = kSignedType<D> ? static_cast<D>(uint64_t{1} << (kBits<D> - 1)) : D(0);
  if (value >= kLimit) return kMost;
  if (value < (kSignedType<D> ? -kLimit : 0.0)) return kLeast;
  return static_cast<D>(value);
}

template <class D, class A>
inline D SaturatedInteger(A a) {
  constexpr bool kNegatives = kSignedType<A>;
  const Int128 value = a;
  constexpr Int128 kMost = kSignedType<D> ? (Int128{1} << (kBits<D> - 1)) - 1 : (Int128{1} << kBits<D>)-1;
  constexpr Int128 kLeast = kSignedType<D> ? -(Int128{1} << (kBits<D> - 1)) : 0;
  if (value > kMost) return static_cast<D>(kMost);
  if (kNegatives && value < kLeast) return static_cast<D>(kLeast);
  return static_cast<D>(a);
}

// Of a NaN f64, an f32, f16 or bf16 keeps the sign and the first bits and is quiet; an f32 keeps those of a bf16. Other narrow
// results are the NaN of arithmetic, and an f64 is what the host gives.
template <class To, class From>
constexpr bool kKeepsNan = (std::is_same_v<From, Real<double>> && sizeof(typename To::Raw) < 8) ||
                           (std::is_same_v<To, Real<float>> && std::is_same_v<From, Tiny<Brain>>);
template <class From, class A>
inline bool IsNan(A a) {
  const auto value = static_cast<double>(From::Read(a, 0));
  return value != value;
}
template <class To, class From, class A>
inline auto KeptNan(A a) {
  if constexpr (sizeof(A) == 2) return __builtin_bit_cast(float, uint32_t{a} << 16);
  const auto bits = __builtin_bit_cast(uint64_t, static_cast<double>(a));
  if constexpr (sizeof(typename To::Raw) == 4) {
    const uint64_t first = bits << 12 >> 41;  // of the mantissa
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits >> 63 << 31 | 0x7fc00000U | first));
  } else {
    const uint64_t first = bits << 12 >> (64 - To::Small::kMantissa);
    return static_cast<uint16_t>(bits >> 63 << 15 | To::Small::kInfinity | 1U << (To::Small::kMantissa - 1) | first);
  }
}

template <class To, class From>
void Convert(Warp& warp, const Instruction& i, uint32_t mask) {
  using D = typename To::Raw;
  using A = typename From::Raw;
  const uint32_t flags = i.flags;
  if constexpr (!To::kFloat && !From::kFloat) {
    if ((flags & kSat) == 0) return Map1<D, A>(warp, i, mask, [](A a) { return static_cast<D>(a); });
    Map1<D, A>(warp, i, mask, [](A a) { return SaturatedInteger<D>(a); });
  } else if constexpr (!To::kFloat) {
    const Rounding rounding(flags);
    Map1<D, A>(warp, i, mask, [flags](A a) {
      return ToInteger<D>(Integral(static_cast<double>(From::Read(a, flags))), sizeof(A) == 8);
    });
  } else if constexpr (!From::kFloat) {
    const Rounding rounding(flags);
    if constexpr (sizeof(D) >= 4) {
      Map1<D, A>(warp, i, mask, [flags](A a) {
        const auto value = static_cast<D>(a);
        return (flags & kSat) != 0 ? Saturated(value) : value;
      });
    } else {
      Map1<D, A>(warp, i, mask, [flags](A a) { return To::Write(static_cast<double>(a), flags); });
    }
  } else {
    const Rounding rounding(flags);
    Map1<D, A>(warp, i, mask, [flags](A a) {
      if constexpr (kKeepsNan<To, From>) {
        if ((flags & kSat) == 0 && IsNan<From>(a)) return static_cast<D>(KeptNan<To, From>(a));
      }
      auto value = static_cast<double>(From::Read(a, flags));
      if ((flags & kToInteger) != 0) value = Integral(value);
      if ((flags & kSat) != 0) value = Saturated(value);
      D out = To::Write(value, flags);
      if constexpr (sizeof(D) == 4) out = (flags & kFtz) != 0 ? Flushed(out) : out;
      return out;
    });
  }
}

// cvt.rn.f16x2.f32 d, a, b: a above b.
template <class S>
void Pack(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t flags = i.flags;
  Map2<uint32_t, float, float>(warp, i, mask, [flags](float a, float b) {
    return uint32_t(Tiny<S>::Write(a, flags)) << 16 | Tiny<S>::Write(b, flags);
  });
}
// cvt.rn.satfinite.e4m3x2.f32 d, a, b; cvt.rn.satfinite.e4m3x2.f16x2 d, a; and back: cvt.rn.f16x2.e4m3x2 d, a.
template <class S>
uint8_t ToFloat8(double value, uint32_t flags) {
  return S::Write((flags & kRelu) != 0 && value <= 0 ? 0.0 : value);
}
template <class S>
void PackEight(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t flags = i.flags;
  Map2<uint16_t, float, float>(warp, i, mask, [flags](float a, float b) {
    return static_cast<uint16_t>(uint32_t{ToFloat8<S>(a, flags)} << 8 | ToFloat8<S>(b, flags));
  });
}
template <class S>
void HalvesToEight(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t flags = i.flags;
  Map1<uint16_t, uint32_t>(warp, i, mask, [flags](uint32_t a) {
    const double high = Half::Read(static_cast<uint16_t>(a >> 16)), low = Half::Read(static_cast<uint16_t>(a));
    return static_cast<uint16_t>(uint32_t{ToFloat8<S>(high, flags)} << 8 | ToFloat8<S>(low, flags));
  });
}
template <class S>
void EightToHalves(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t flags = i.flags;
  Map1<uint32_t, uint16_t>(warp, i, mask, [flags](uint16_t a) {
    const double high = S::Read(static_cast<uint8_t>(a >> 8)), low = S::Read(static_cast<uint8_t>(a));
    return uint32_t{Tiny<Half>::Write(high, flags)} << 16 | Tiny<Half>::Write(low, flags);
  });
}

// f16 and bf16 with .satfinite: the greatest number in place of an infinity.
template <class S>
uint16_t Finite(float value, uint32_t flags) {
  const uint16_t bits = Tiny<S>::Write(value, flags);
  return (bits & 0x7fff) == S::kInfinity ? static_cast<uint16_t>(bits - 1) : bits;
}
template <class S>
void ToFinite(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t flags = i.flags;
  Map1<uint16_t, float>(warp, i, mask, [flags](float a) { return Finite<S>(a, flags); });
}
template <class S>
void PackFinite(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t flags = i.flags;
  Map2<uint32_t, float, float>(
      warp, i, mask, [flags](float a, float b) { return uint32_t(Finite<S>(a, flags)) << 16 | Finite<S>(b, flags); });
}

// The last 13 bits are given up.
uint32_t Tf32(float value, uint32_t half, uint32_t even) {
  if (value != value) value = Canonical(value), half = even = 0;
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  return (bits + half + (even != 0 ? bits >> 13 & 1 : 0)) & ~0x1fffU;
}
struct ToTf32 {  // .rna, which cuts a NaN off as it is
  uint32_t operator()(float a) const {
    const uint32_t bits = __builtin_bit_cast(uint32_t, a);
    return ((bits & 0x7f800000U) == 0x7f800000U ? bits : bits + 0x1000) & ~0x1fffU;
  }
};
void ToTf32Rounded(Warp& warp, const Instruction& i, uint32_t mask) {  // .rn and .rz
  const uint32_t flags = i.flags;
  Map1<uint32_t, float>(warp, i, mask, [flags](float a) {
    if ((flags & kRelu) != 0 && a <= 0) a = 0;
    return (flags & kRoundZero) != 0 ? Tf32(a, 0, 0) : Tf32(a, 0xfff, 1);
  });
}

constexpr Held W = Held::kWord, L = Held::kLong, F = Held::kFloat, D = Held::kDouble;
constexpr uint32_t kAll = kFtz | kSat | kRounding | kToInteger | kRelu;

#define KP_TO(to, To, HD)                                                \
  {"cvt." to ".u8", &Convert<To, Number<uint8_t>>, kAll, {HD, W}},       \
      {"cvt." to ".s8", &Convert<To, Number<int8_t>>, kAll, {HD, W}},    \
      {"cvt." to ".u16", &Convert<To, Number<uint16_t>>, kAll, {HD, W}}, \
      {"cvt." to ".s16", &Convert<To, Number<int16_t>>, kAll, {HD, W}},  \
      {"cvt." to ".u32", &Convert<To, Number<uint32_t>>, kAll, {HD, W}}, \
      {"cvt." to ".s32", &Convert<To, Number<int32_t>>, kAll, {HD, W}},  \
      {"cvt." to ".u64", &Convert<To, Number<uint64_t>>, kAll, {HD, L}}, \
      {"cvt." to ".s64", &Convert<To, Number<int64_t>>, kAll, {HD, L}},  \
      {"cvt." to ".f16", &Convert<To, Tiny<Half>>, kAll, {HD, W}},       \
      {"cvt." to ".bf16", &Convert<To, Tiny<Brain>>, kAll, {HD, W}},     \
      {"cvt." to ".f32", &Convert<To, Real<float>>, kAll, {HD, F}}, {    \
    "cvt." to ".f64", &Convert<To, Real<double>>, kAll, { HD, D }        \
  }

constexpr Row kRows[] = {
    KP_TO("u8", Number<uint8_t>, W),
    KP_TO("s8", Number<int8_t>, W),
    KP_TO("u16", Number<uint16_t>, W),
    KP_TO("s16", Number<int16_t>, W),
    KP_TO("u32", Number<uint32_t>, W),
    KP_TO("s32", Number<int32_t>, W),
    KP_TO("u64", Number<uint64_t>, L),
    KP_TO("s64", Number<int64_t>, L),
    KP_TO("f16", Tiny<Half>, W),
    KP_TO("bf16", Tiny<Brain>, W),
    KP_TO("f32", Real<float>, F),
    KP_TO("f64", Real<double>, D),
    {"cvt.f16x2.f32", &Pack<Half>, kAll, {W, F, F}},
    {"cvt.bf16x2.f32", &Pack<Brain>, kAll, {W, F, F}},
    {"cvt.satfinite.e4m3x2.f32", &PackEight<E4m3>, kRelu, {W, F, F}},
    {"cvt.satfinite.e5m2x2.f32", &PackEight<E5m2>, kRelu, {W, F, F}},
    {"cvt.satfinite.e4m3x2.f16x2", &HalvesToEight<E4m3>, kRelu, {W, W}},
    {"cvt.satfinite.e5m2x2.f16x2", &HalvesToEight<E5m2>, kRelu, {W, W}},
    {"cvt.f16x2.e4m3x2", &EightToHalves<E4m3>, kRelu, {W, W}},
    {"cvt.f16x2.e5m2x2", &EightToHalves<E5m2>, kRelu, {W, W}},
    {"cvt.satfinite.f16.f32", &ToFinite<Half>, kRelu | kRoundZero, {W, F}},
    {"cvt.satfinite.bf16.f32", &ToFinite<Brain>, kRelu | kRoundZero, {W, F}},
    {"cvt.satfinite.f16x2.f32", &PackFinite<Half>, kRelu | kRoundZero, {W, F, F}},
    {"cvt.satfinite.bf16x2.f32", &PackFinite<Brain>, kRelu | kRoundZero, {W, F, F}},
    Row1<uint32_t, float, ToTf32>("cvt.rna.tf32.f32"),
    {"cvt.tf32.f32", &ToTf32Rounded, kRelu | kRoundZero, {W, F}},
    Row1<uint16_t, uint16_t, Move<uint16_t>>("mov.b16"),
    Row1<uint16_t, uint16_t, Move<uint16_t>>("mov.u16"),
    Row1<uint16_t, uint16_t, Move<uint16_t>>("mov.s16"),
    Row1<uint32_t, uint32_t, Move<uint32_t>>("mov.b32"),
    Row1<uint32_t, uint32_t, Move<uint32_t>>("mov.u32"),
    Row1<uint32_t, uint32_t, Move<uint32_t>>("mov.s32"),
    {"mov.f32", &Unary<uint32_t, uint32_t, Move<uint32_t>>, 0, {F, F}},
    Row1<uint64_t, uint64_t, Move<uint64_t>>("mov.b64"),
    Row1<uint64_t, uint64_t, Move<uint64_t>>("mov.u64"),
    Row1<uint64_t, uint64_t, Move<uint64_t>>("mov.s64"),
    {"mov.f64", &Unary<uint64_t, uint64_t, Move<uint64_t>>, 0, {D, D}},
};

}  // namespace

extern const Table kConvertTable;
const Table kConvertTable{kRows, sizeof kRows / sizeof kRows[0]};

}  // namespace kernpack::emulator::KP_ISA
