// exp, log, tanh, sigmoid and erf of f64. Polynomials are Taylor's, long enough for the last bit since the ranges are small;
// those of erf are minimax fits.
#include "pass/math_f64.h"

namespace kernpack::sdk::ir {

Mantissa SplitF64(const Expr& x, const Binder& bind) {
  const Expr tiny = bind("tiny", x < Constant(x, 0x1p-1022));
  const Expr bits = bind("bits", GetBits(Select(tiny, x * Constant(x, 0x1p54), x)));
  const Expr m = bind("m", FromBits((bits & BitsLike(x, 0x000fffffffffffff)) | BitsLike(x, 0x3fe0000000000000)));
  const Expr low = bind("low", m < Constant(x, 0.707106781186547524));
  const Expr exponent = Cast(kI64, bits >> BitsLike(x, 52));
  const Expr bias = Select(tiny, LongLike(x, 1076), LongLike(x, 1022));
  return {bind("n", Cast(kF64, exponent - bias - Cast(kI64, low))), bind("m", Select(low, m + m, m))};
}

Expr ScaleF64(const Expr& p, const Expr& bits, const Binder& bind) {
  const Expr half = bind("half", bits >> BitsLike(p, 1));
  const Expr low = FromBits(half << BitsLike(p, 52)), high = FromBits((bits - half) << BitsLike(p, 52));
  return p * low * high;
}

Expr ExpTailF64(const Expr& r) {
  const Expr p = Polynomial(r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                                1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5});
  return p * (r * r);
}

namespace {

// log 2 in two parts, of which the first has few enough bits for its product with an exponent to be exact.
constexpr double kLog2High = 6.93147180369123816490e-01, kLog2Low = 1.90821492927058770002e-10;

// x as n * log 2 + r, with n to the nearest integer.
struct ReducedF64 {
  Expr bits;  // of n + kShiftF64
  Expr r;
};
ReducedF64 ReduceF64(const Expr& x, const Binder& bind) {
  const Expr shifted = bind("shifted", x * Constant(x, 1.44269504088896341) + Constant(x, kShiftF64));
  const Expr n = bind("n", shifted - Constant(x, kShiftF64));
  const Expr r = bind("r", (x - n * Constant(x, kLog2High)) - n * Constant(x, kLog2Low));
  return {bind("bits", GetBits(shifted)), r};
}

// e^x for -746 <= x <= 710, and of NaN.
Expr ExpInRangeF64(const Expr& x, const Binder& bind) {
  const ReducedF64 e = ReduceF64(x, bind);
  return ScaleF64((ExpTailF64(e.r) + e.r) + Constant(x, 1.0), e.bits, bind);
}

// `magnitude`, whose sign bit is clear.
Expr CopySign(const Expr& x, const Expr& magnitude) {
  return FromBits(GetBits(magnitude) | (GetBits(x) & BitsLike(x, uint64_t{1} << 63)));
}

}  // namespace

Expr ExpandExpF64(Expr value, const Binder& bind) {
  return ExpInRangeF64(bind("x", AtMost(710.0, AtLeast(-746.0, bind("x", value)))), bind);
}

Expr ExpandLogF64(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Mantissa parts = SplitF64(x, bind);
  const Expr& n = parts.n;
  // log(1 + f) by s = f / (2 + f), so arranged that f itself is added last.
  const Expr f = bind("f", parts.m - Constant(x, 1.0));
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
  const Expr u = bind("u", scale * (ExpTailF64(e.r) + e.r) + (scale - Constant(x, 1.0)));
  return CopySign(x, u / (u + Constant(x, 2.0)));
}

Expr ExpandSigmoidF64(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Expr e = bind("e", ExpInRangeF64(bind("x", AtLeast(-746.0, -Unary(Op::kAbs, x))), bind));
  return Select(x < Constant(x, 0.0), e, Constant(x, 1.0)) / (Constant(x, 1.0) + e);
}

// Below 1 a polynomial of x^2, so arranged that x itself is added last; from there on 1 - e^(-x^2) R(1 / (2 + x)), where
// errors weigh less the nearer the result is to 1. From 6 on erf is 1.
Expr ExpandErfF64(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Expr a = bind("a", AtMost(6.0, Unary(Op::kAbs, x)));
  const Expr z = bind("z", a * a);
  const Expr p =
      Polynomial(z, {5.9606853385209714e-11, -1.1374955736070149e-09, 1.466032872274226e-08, -1.6350396222864617e-07,
                     1.64610084778027e-06, -1.4925595772180906e-05, 1.205533113295582e-04, -8.5483269814255422e-04,
                     5.2239776248284306e-03, -2.6866170645077875e-02, 1.1283791670954885e-01, -3.7612638903183748e-01,
                     1.2837916709551259e-01});
  const Expr t = bind("t", Constant(x, 1.0) / (a + Constant(x, 2.0)));
  const Expr r =
      Polynomial(t, {-2.1213300261748952e+02, 7.4801577282124595e+02, -1.1530297483360873e+03, 9.9478867230224091e+02,
                     -5.1082427591145625e+02, 1.6122605696358059e+02, -4.1117886339688773e+01, 9.8878917920903469e+00,
                     1.8974707499942596e+00, 2.0584953363220402e+00, 1.1232651829378848e+00, 5.6437741255768759e-01,
                     -3.1305890009202069e-06});
  const Expr rest = ExpInRangeF64(bind("x", -z), bind) * r;
  return CopySign(x, Select(a < Constant(x, 1.0), a + a * p, Constant(x, 1.0) - rest));
}

}  // namespace kernpack::sdk::ir
