// Building blocks of the functions of f64.
#ifndef KERNPACK_SDK_COMPILER_PASS_MATH_F64_H_
#define KERNPACK_SDK_COMPILER_PASS_MATH_F64_H_

#include "pass/math.h"

namespace kernpack::sdk::ir {

inline constexpr Type kU64(KP_DTYPE_UINT, 64);
inline Expr BitsLike(const Expr& x, uint64_t value) { return Const(WithLanes(kU64, x->type.lanes), value); }
inline Expr LongLike(const Expr& x, int64_t value) { return ConstInt(WithLanes(kI64, x->type.lanes), value); }
inline Expr GetBits(const Expr& x) { return Bitcast(kU64, x); }
inline Expr FromBits(const Expr& bits) { return Bitcast(kF64, bits); }

// The first 26 of x's 53 bits: a product of two such is exact, so that contraction changes nothing.
inline Expr High(const Expr& x) { return FromBits(GetBits(x) & BitsLike(x, ~uint64_t{0} << 27)); }

// A number as the sum of two, the second within an ulp or so of the first.
struct Pair {
  Expr high, low;
};
// a + b for |a| >= |b|, or a = 0: exactly.
inline Pair SumOfOrdered(const Expr& a, const Expr& b, const Binder& bind) {
  const Expr sum = bind("sum", a + b);
  return {sum, bind("rest", b - (sum - a))};
}
// a + b, exactly.
inline Pair Sum(const Expr& a, const Expr& b, const Binder& bind) {
  const Expr sum = bind("sum", a + b), part = bind("part", sum - a);
  return {sum, bind("rest", (a - (sum - part)) + (b - part))};
}

// A positive finite x as 2^n * m, with m between the root of 1/2 and that of 2.
struct Mantissa {
  Expr n, m;
};
Mantissa SplitF64(const Expr& x, const Binder& bind);

// 1.5 * 2^52: adding it to n, which then has no fraction, leaves n in the low bits. Two exponent biases more, n is the
// sum of two exponents as they stand in floats, so that 2^n is a product of two floats that are both in range.
constexpr double kShiftF64 = 6755399441055744.0 + 2 * 1023;
// p * 2^n, where `bits` are those of n + kShiftF64.
Expr ScaleF64(const Expr& p, const Expr& bits, const Binder& bind);

// e^r - 1 - r for |r| <= log 2 / 2.
Expr ExpTailF64(const Expr& r);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_PASS_MATH_F64_H_
