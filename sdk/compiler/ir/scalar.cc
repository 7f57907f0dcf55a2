#include "ir/scalar.h"

#include <kernpack/float8.h>
#include <kernpack/sdk/ir/expr.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernpack::sdk::ir {
namespace {

template <class T>
T FromBits(uint64_t lane) {
  if constexpr (std::is_same_v<T, float>) return std::bit_cast<float>(static_cast<uint32_t>(lane));
  if constexpr (std::is_same_v<T, double>) return std::bit_cast<double>(lane);
  return static_cast<T>(lane);
}
uint64_t ToBits(float v) { return std::bit_cast<uint32_t>(v); }
uint64_t ToBits(double v) { return std::bit_cast<uint64_t>(v); }

uint64_t Wrap(Type t, uint64_t v) {
  if (t.bits == 64) return v;
  const int drop = 64 - t.bits;
  return IsSigned(t) ? static_cast<uint64_t>(static_cast<int64_t>(v << drop) >> drop) : v << drop >> drop;
}

template <class T>
bool Compare(Op op, T a, T b) {
  switch (op) {
    case Op::kEq:
      return a == b;
    case Op::kNe:
      return a != b;
    case Op::kLt:
      return a < b;
    case Op::kLe:
      return a <= b;
    case Op::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

template <class T>
uint64_t FloatBinary(Op op, T a, T b) {
  switch (op) {
    case Op::kAdd:
      return ToBits(a + b);
    case Op::kSub:
      return ToBits(a - b);
    case Op::kMul:
      return ToBits(a * b);
    case Op::kDiv:
      return ToBits(a / b);
    case Op::kMin:
      return ToBits(a < b || b != b ? a : b);
    case Op::kMax:
      return ToBits(a > b || b != b ? a : b);
    case Op::kMinimum:
      return ToBits(a < b || a != a ? a : b);
    case Op::kMaximum:
      return ToBits(a > b || a != a ? a : b);
    case Op::kPow:
      return ToBits(static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b))));
    default:
      return Compare(op, a, b);
  }
}

// T: int64_t or uint64_t, by the type's sign.
template <class T>
uint64_t IntBinary(Op op, Type type, T a, T b) {
  const uint64_t ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const uint64_t count = ub & (type.bits - 1u);
  // INT64_MIN / -1 is the one quotient that does not fit; narrower types wrap afterwards.
  const bool negates = std::is_signed_v<T> && b == static_cast<T>(-1);
  switch (op) {
    case Op::kAdd:
      return ua + ub;
    case Op::kSub:
      return ua - ub;
    case Op::kMul:
      return ua * ub;
    case Op::kDiv:
    case Op::kFloorDiv: {
      if (b == 0) return 0;
      if (negates) return 0 - ua;
      const T q = a / b;
      return static_cast<uint64_t>(op == Op::kFloorDiv && a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q);
    }
    case Op::kRem:
    case Op::kFloorMod: {
      if (b == 0 || negates) return 0;
      const T r = a % b;
      return static_cast<uint64_t>(op == Op::kFloorMod && r != 0 && (r < 0) != (b < 0) ? r + b : r);
    }
    case Op::kMin:
      return a < b ? ua : ub;
    case Op::kMax:
      return a > b ? ua : ub;
    case Op::kAnd:
      return ua & ub;
    case Op::kOr:
      return ua | ub;
    case Op::kXor:
      return ua ^ ub;
    case Op::kShl:
      return ua << count;
    case Op::kShr:
      return static_cast<uint64_t>(a >> count);
    default:
      return Compare(op, a, b);
  }
}

template <class T>
uint64_t FloatUnary(Op op, T a) {
  const double wide = a;
  switch (op) {
    case Op::kNeg:
      return ToBits(-a);
    case Op::kAbs:
      return ToBits(std::fabs(a));
    case Op::kSqrt:
      return ToBits(std::sqrt(a));
    case Op::kFloor:
      return ToBits(std::floor(a));
    case Op::kCeil:
      return ToBits(std::ceil(a));
    case Op::kTrunc:
      return ToBits(std::trunc(a));
    case Op::kRound:
      return ToBits(std::nearbyint(a));
    case Op::kExp:
      return ToBits(static_cast<T>(std::exp(wide)));
    case Op::kLog:
      return ToBits(static_cast<T>(std::log(wide)));
    case Op::kTanh:
      return ToBits(static_cast<T>(std::tanh(wide)));
    case Op::kErf:
      return ToBits(static_cast<T>(std::erf(wide)));
    case Op::kSigmoid:
      return ToBits(static_cast<T>(wide < 0 ? std::exp(wide) / (1 + std::exp(wide)) : 1 / (1 + std::exp(-wide))));
    case Op::kSin:
      return ToBits(static_cast<T>(std::sin(wide)));
    default:
      return ToBits(static_cast<T>(std::cos(wide)));
  }
}

// Toward zero; what does not fit becomes the nearest end of the type, NaN 0.
uint64_t Saturate(Type to, double v) {
  if (v != v) return 0;
  v = std::trunc(v);
  if (IsSigned(to)) {
    const double end = std::ldexp(1.0, to.bits - 1);
    if (v >= end) return (uint64_t{1} << (to.bits - 1)) - 1;
    if (v < -end) v = -end;
    return static_cast<uint64_t>(static_cast<int64_t>(v));
  }
  if (v <= 0) return 0;
  if (v >= std::ldexp(1.0, to.bits)) return ~uint64_t{0} >> (64 - to.bits);
  return static_cast<uint64_t>(v);
}

// Integers above 2^24 or 2^53 must be rounded once, straight to the type.
template <class T>
uint64_t FloatFromInt(Type to, T v) {
  if (to == f64) return ToBits(static_cast<double>(v));
  const float f = static_cast<float>(v);
  return to == f32 ? ToBits(f) : LaneFromDouble(to, static_cast<double>(f));
}

}  // namespace

uint64_t EvalBinary(Op op, Type type, uint64_t a, uint64_t b) {
  const bool compares = ClassOf(op) == OpClass::Compare;
  if (type.code == KP_DTYPE_FLOAT) {
    const uint64_t r = type.bits == 32 ? FloatBinary(op, FromBits<float>(a), FromBits<float>(b))
                                       : FloatBinary(op, FromBits<double>(a), FromBits<double>(b));
    return compares ? r : CanonicalLane(ElementOf(type), r);
  }
  const uint64_t r = IsSigned(type) ? IntBinary(op, type, static_cast<int64_t>(a), static_cast<int64_t>(b))
                                    : IntBinary(op, type, a, b);
  return compares || IsBool(type) ? r : Wrap(type, r);
}

uint64_t EvalUnary(Op op, Type type, uint64_t a) {
  if (type.code == KP_DTYPE_FLOAT) {
    const uint64_t r = type.bits == 32 ? FloatUnary(op, FromBits<float>(a)) : FloatUnary(op, FromBits<double>(a));
    return CanonicalLane(ElementOf(type), r);
  }
  if (op == Op::kNot) return IsBool(type) ? !a : Wrap(type, ~a);
  if (op == Op::kAbs && (IsUnsigned(type) || static_cast<int64_t>(a) >= 0)) return a;
  return Wrap(type, 0 - a);
}

uint64_t EvalCast(Type from, Type to, uint64_t a) {
  from = ElementOf(from);
  to = ElementOf(to);
  if (from == to) return a;
  if (from.is_floating_point()) {
    const double v = DoubleFromLane(from, a);
    if (IsBool(to)) return v != 0;
    return IsInteger(to) ? Saturate(to, v) : LaneFromDouble(to, v);
  }
  if (IsBool(to)) return a != 0;
  if (IsInteger(to)) return Wrap(to, a);
  return IsSigned(from) ? FloatFromInt(to, static_cast<int64_t>(a)) : FloatFromInt(to, a);
}

uint64_t EvalBitcast(Type from, Type to, uint64_t a) {
  const uint64_t raw = from.bits == 64 ? a : a & ((uint64_t{1} << from.bits) - 1);
  return IsInteger(to) ? Wrap(to, raw) : raw;
}

uint64_t LaneFromInt(Type type, int64_t value) {
  return EvalCast(Type(KP_DTYPE_INT, 64), type, static_cast<uint64_t>(value));
}

uint64_t LaneFromDouble(Type type, double value) {
  const Type t = ElementOf(type);
  if (IsInteger(t)) return Saturate(t, value);
  if (IsBool(t)) return value != 0;
  uint64_t lane = 0;
  const float narrow = static_cast<float>(value);
  if (t == f64) {
    lane = ToBits(value);
  } else if (t == f32) {
    lane = ToBits(narrow);
  } else if (t == f16) {
    lane = half(narrow).bits();
  } else if (t == bf16) {
    lane = bfloat16(narrow).bits();
  } else if (t == f8_e4m3fn) {
    lane = float8_e4m3fn(narrow).bits();
  } else {
    lane = float8_e5m2(narrow).bits();
  }
  return CanonicalLane(t, lane);
}

double DoubleFromLane(Type type, uint64_t lane) {
  const Type t = ElementOf(type);
  if (t == f64) return FromBits<double>(lane);
  if (t == f32) return FromBits<float>(lane);
  if (t == f16) return half::from_bits(static_cast<uint16_t>(lane));
  if (t == bf16) return bfloat16::from_bits(static_cast<uint16_t>(lane));
  if (t == f8_e4m3fn) return float8_e4m3fn::from_bits(static_cast<uint8_t>(lane));
  return float8_e5m2::from_bits(static_cast<uint8_t>(lane));
}

bool IsNanLane(Type type, uint64_t lane) { return type.is_floating_point() && std::isnan(DoubleFromLane(type, lane)); }

uint64_t CanonicalLane(Type type, uint64_t lane) {
  if (!IsNanLane(type, lane)) return lane;
  const Type t = ElementOf(type);
  if (t == f64) return 0x7ff8000000000000;
  if (t == f32) return 0x7fc00000;
  if (t == f16) return 0x7e00;
  if (t == bf16) return 0x7fc0;
  return t == f8_e4m3fn ? 0x7f : 0x7e;
}

uint64_t ReadLane(Type type, const void* at) {
  uint64_t raw = 0;
  std::memcpy(&raw, at, type.bits / 8u);  // little-endian hosts only, as the rest of the SDK
  if (IsBool(type)) return raw != 0;
  return IsInteger(type) ? Wrap(type, raw) : raw;
}

void WriteLane(Type type, void* at, uint64_t lane) { std::memcpy(at, &lane, type.bits / 8u); }

}  // namespace kernpack::sdk::ir
