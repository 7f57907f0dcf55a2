// Range reductions are the usual ones; log's polynomial is that of Cephes, the others are minimax fits of our own. Products
// that must be exact have few enough bits, so that contraction changes nothing.
#include "pass/math.h"

#include <cmath>

namespace kernpack::sdk::ir {

Expr Constant(const Expr& like, double value) { return ConstFloat(like->type, value); }

Expr Polynomial(const Expr& x, std::initializer_list<double> coefficients) {
  Expr p;
  for (const double c : coefficients) p = p ? p * x + Constant(x, c) : Constant(x, c);
  return p;
}

// The limit is the first operand: then this is one instruction of x86.
Expr AtMost(double limit, const Expr& x) { return Binary(Op::kMinimum, Constant(x, limit), x); }
Expr AtLeast(double limit, const Expr& x) { return Binary(Op::kMaximum, Constant(x, limit), x); }

namespace {

Expr IntLike(const Expr& x, int64_t value) { return ConstInt(WithLanes(kI32, x->type.lanes), value); }
Expr Abs(const Expr& x) { return Unary(Op::kAbs, x); }

// 1.5 * 2^23: adding it to n, which then has no fraction, leaves n in the low bits. Two exponent biases more, n is the
// sum of two exponents as they stand in floats, so that 2^n is a product of two floats that are both in range.
constexpr double kShift = 12582912.0 + 2 * 127;

// e^x for -104 <= x <= 89, and of NaN. n is x / log 2 to the nearest integer, r what it leaves.
Expr ExpInRange(const Expr& x, const Binder& bind) {
  const Expr shifted = bind("shifted", x * Constant(x, 1.44269504088896341) + Constant(x, kShift));
  const Expr n = bind("n", shifted - Constant(x, kShift));
  const Expr r = bind("r", (x - n * Constant(x, 0.693359375)) - n * Constant(x, -2.12194440e-4));
  const Expr p = Polynomial(r, {1.38207339e-3, 8.36867746e-3, 4.16682661e-2, 1.66665211e-1, 4.99999940e-1, 1.0, 1.0});
  const Expr bits = bind("bits", Bitcast(kI32, shifted)), half = bind("half", bits >> IntLike(x, 1));
  const Expr low = Bitcast(kF32, half << IntLike(x, 23)), high = Bitcast(kF32, (bits - half) << IntLike(x, 23));
  return p * low * high;
}

}  // namespace

Expr ExpandExp(Expr value, const Binder& bind) {
  return ExpInRange(bind("x", AtMost(89.0, AtLeast(-104.0, bind("x", value)))), bind);
}

Expr ExpandLog(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Expr tiny = bind("tiny", x < Constant(x, 1.17549435e-38));
  const Expr bits = bind("bits", Bitcast(kI32, Select(tiny, x * Constant(x, 8388608.0), x)));
  const Expr half = Bitcast(kF32, (bits & IntLike(x, 0x007fffff)) | IntLike(x, 0x3f000000));
  const Expr m = bind("m", half);  // in [1/2, 1)
  const Expr low = bind("low", m < Constant(x, 0.707106781186547524));
  const Expr e = bind("e", (bits >> IntLike(x, 23)) - Select(tiny, IntLike(x, 149), IntLike(x, 126)) - Cast(kI32, low));
  const Expr n = bind("n", Cast(kF32, e));
  const Expr f = bind("f", Select(low, m + m, m) - Constant(x, 1.0));
  const Expr z = bind("z", f * f);
  const Expr p = Polynomial(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                                -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  const Expr tail = f * z * p + n * Constant(x, -2.12194440e-4) - z * Constant(x, 0.5);
  const Expr y = (f + tail) + n * Constant(x, 0.693359375);
  const Expr special =
      Select(x == Constant(x, 0.0), Constant(x, -kInf), Select(x == Constant(x, kInf), x, Constant(x, kNan)));
  return Select((x > Constant(x, 0.0)) & (x < Constant(x, kInf)), y, special);
}

namespace {

// An odd function that rises to 1, from one of half its argument: 2h / (1 + h^2), where h is numerator / denominator. So
// relative errors of both weigh less the nearer the result is to 1, and one formula does for all x: `limit` is where both
// are so close that the result is 1.
Expr FromHalf(const Expr& value, double limit, std::initializer_list<double> numerator,
              std::initializer_list<double> denominator, const Binder& bind) {
  const Expr x = bind("x", AtMost(limit, AtLeast(-limit, bind("x", value))));
  const Expr z = bind("z", x * x);
  const Expr n = bind("n", x * Polynomial(z, numerator)), d = bind("d", Polynomial(z, denominator));
  // Rounding must not lead past 1.
  return AtMost(1.0, AtLeast(-1.0, bind("y", (n + n) * d / (n * n + d * d))));
}

}  // namespace

Expr ExpandTanh(Expr value, const Binder& bind) {
  return FromHalf(value, 9.375, {1.01718608e-4, 2.66862568e-2, 8.97596776e-1},
                  {2.17112643e-6, 2.15790002e-3, 2.02971891e-1, 1.79519355}, bind);
}

Expr ExpandErf(Expr value, const Binder& bind) {
  return FromHalf(value, 4.25, {1.87877100e-3, 2.57972702e-2, 2.32074544e-1, 9.70057845e-1},
                  {1.45264450e-4, 9.13591590e-3, 7.92248324e-2, 4.37173188e-1, 1.71938276}, bind);
}

Expr ExpandSigmoid(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Expr e = bind("e", ExpInRange(bind("x", AtLeast(-104.0, -Abs(x))), bind));
  return Select(x < Constant(x, 0.0), e, Constant(x, 1.0)) / (Constant(x, 1.0) + e);
}

}  // namespace kernpack::sdk::ir
