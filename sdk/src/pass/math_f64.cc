// f64. Polynomials are Taylor's, long enough for the last bit: the ranges are small.
#include "pass/math.h"

namespace kernpack::sdk::ir {
namespace {

Expr BitsLike(const Expr& x, uint64_t value) { return Const(Type(KP_DTYPE_UINT, 64, x->type.lanes), value); }
Expr BitsOf(const Expr& x) { return Bitcast(Type(KP_DTYPE_UINT, 64), x); }
Expr FromBits(const Expr& bits) { return Bitcast(kF64, bits); }

// log 2 in two parts, of which the first has few enough bits for its product with an exponent to be exact.
constexpr double kLog2High = 6.93147180369123816490e-01, kLog2Low = 1.90821492927058770002e-10;

// 1.5 * 2^52: adding it to n leaves n in the low bits. Two exponent biases more: see kShift of f32.
constexpr double kShiftF64 = 6755399441055744.0 + 2 * 1023;

// x as n * log 2 + r, with n to the nearest integer.
struct ReducedF64 {
  Expr bits;  // of n + kShiftF64
  Expr r;
};
ReducedF64 ReduceF64(const Expr& x, const Binder& bind) {
  const Expr shifted = bind("shifted", x * Constant(x, 1.44269504088896341) + Constant(x, kShiftF64));
  const Expr n = bind("n", shifted - Constant(x, kShiftF64));
  const Expr r = bind("r", (x - n * Constant(x, kLog2High)) - n * Constant(x, kLog2Low));
  return {bind("bits", BitsOf(shifted)), r};
}

// e^r - 1 for |r| <= log 2 / 2.
Expr ExpMinusOneF64(const Expr& r) {
  const Expr p = Polynomial(r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
  return p * (r * r) + r;
}

// e^x for -746 <= x <= 710, and of NaN.
Expr ExpInRangeF64(const Expr& x, const Binder& bind) {
  const ReducedF64 e = ReduceF64(x, bind);
  const Expr half = bind("half", e.bits >> BitsLike(x, 1));
  const Expr low = FromBits(half << BitsLike(x, 52)), high = FromBits((e.bits - half) << BitsLike(x, 52));
  return (ExpMinusOneF64(e.r) + Constant(x, 1.0)) * low * high;
}

}  // namespace

Expr ExpandExpF64(Expr value, const Binder& bind) {
  return ExpInRangeF64(bind("x", AtMost(710.0, AtLeast(-746.0, bind("x", value)))), bind);
}

Expr ExpandLogF64(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Expr tiny = bind("tiny", x < Constant(x, 0x1p-1022));
  const Expr bits = bind("bits", BitsOf(Select(tiny, x * Constant(x, 0x1p54), x)));
  const Expr m = bind("m", FromBits((bits & BitsLike(x, 0x000fffffffffffff)) | BitsLike(x, 0x3fe0000000000000)));
  const Expr low = bind("low", m < Constant(x, 0.707106781186547524));
  const Expr exponent = Cast(kI64, bits >> BitsLike(x, 52));
  const auto integer = [&](int64_t v) { return ConstInt(WithLanes(kI64, x->type.lanes), v); };
  const Expr n = bind("n", Cast(kF64, exponent - Select(tiny, integer(1076), integer(1022)) - Cast(kI64, low)));
  // log(1 + f) by s = f / (2 + f), so arranged that f itself is added last.
  const Expr f = bind("f", Select(low, m + m, m) - Constant(x, 1.0));
  const Expr s = bind("s", f / (f + Constant(x, 2.0)));
  const Expr z = bind("z", s * s), square = bind("square", f * f * Constant(x, 0.5));
  const Expr p = z * Polynomial(z, {2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9,
                                    2.0 / 7, 2.0 / 5, 2.0 / 3});
  const Expr tail = square - (s * (square + p) + n * Constant(x, kLog2Low));
  const Expr y = n * Constant(x, kLog2High) - (tail - f);
  const Expr special =
      Select(x == Constant(x, 0.0), Constant(x, -kInf), Select(x == Constant(x, kInf), x, Constant(x, kNan)));
  return Select((x > Constant(x, 0.0)) & (x < Constant(x, kInf)), y, special);
}

// (e^2x - 1) / (e^2x + 1), with e^2x - 1 in a form that keeps the bits of small ones. From 22 on tanh is 1.
Expr ExpandTanhF64(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Expr a = bind("a", AtMost(22.0, Unary(Op::kAbs, x)));
  const ReducedF64 e = ReduceF64(bind("d", a + a), bind);
  const Expr scale = bind("scale", FromBits((e.bits - BitsLike(x, 1023)) << BitsLike(x, 52)));  // 2^n
  const Expr u = bind("u", scale * ExpMinusOneF64(e.r) + (scale - Constant(x, 1.0)));
  return FromBits(BitsOf(u / (u + Constant(x, 2.0))) | (BitsOf(x) & BitsLike(x, uint64_t{1} << 63)));
}

Expr ExpandSigmoidF64(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Expr e = bind("e", ExpInRangeF64(bind("x", AtLeast(-746.0, -Unary(Op::kAbs, x))), bind));
  return Select(x < Constant(x, 0.0), e, Constant(x, 1.0)) / (Constant(x, 1.0) + e);
}

}  // namespace kernpack::sdk::ir
