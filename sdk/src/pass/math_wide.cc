// pow, sin and cos of f32 go through f64, which makes their range reductions simple.
#include <limits>

#include "pass/math.h"

namespace kernpack::sdk::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Expr Wide(const Expr& x) { return Cast(kF64, x); }
Expr Narrow(const Expr& x) { return Cast(kF32, x); }
Expr LongLike(const Expr& x, int64_t value) { return ConstInt(WithLanes(kI64, x->type.lanes), value); }

// log of a positive, finite, normal f64, to about 2^-46.
Expr WideLog(const Expr& a, const Binder& bind) {
  const Expr bits = bind("bits", Bitcast(kI64, a));
  const Expr m = bind("m", Bitcast(kF64, (bits & LongLike(a, 0x000fffffffffffff)) | LongLike(a, 0x3fe0000000000000)));
  const Expr low = bind("low", m < Constant(a, 0.707106781186547524));
  const Expr e = (bits >> LongLike(a, 52)) - LongLike(a, 1022) - Cast(kI64, low);
  const Expr f = bind("f", Select(low, m + m, m));
  const Expr s = bind("s", (f - Constant(a, 1.0)) / (f + Constant(a, 1.0)));
  const Expr z = bind("z", s * s);
  const Expr p = Polynomial(z, {1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0});
  return Cast(kF64, e) * Constant(a, 0.69314718055994530942) + Constant(a, 2.0) * s * p;
}

// exp for |x| < 200, to about 2^-46.
Expr WideExp(const Expr& x, const Binder& bind) {
  const Expr magic = Constant(x, 6755399441055744.0);
  const Expr shifted = bind("n", x * Constant(x, 1.44269504088896341) + magic);
  const Expr n = bind("n", shifted - magic);
  const Expr r =
      bind("r", (x - n * Constant(x, 6.93147180369123816490e-01)) - n * Constant(x, 1.90821492927058770002e-10));
  const Expr p = Polynomial(r, {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                                1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0});
  const Expr k = Bitcast(kI64, shifted) - LongLike(x, 0x4338000000000000);
  return p * Bitcast(kF64, (k + LongLike(x, 1023)) << LongLike(x, 52));
}

struct Angle {
  Expr quadrant;   // i64, modulo 4
  Expr remainder;  // f64, within pi / 4
};

// n * kHigh is exact while n has at most 20 bits, n * kMiddle then carries the next 33.
Angle Reduce(const Expr& x, const Binder& bind) {
  constexpr double kHigh = 1.57079632673412561417, kMiddle = 6.07710050630396597660e-11,
                   kLow = 2.02226624879595063154e-21;
  const Expr w = bind("w", Wide(x));
  const Expr n = bind("n", Unary(Op::kRound, w * Constant(w, 0.63661977236758134308)));
  const Expr r = bind("r", ((w - n * Constant(w, kHigh)) - n * Constant(w, kMiddle)) - n * Constant(w, kLow));
  return {bind("q", Cast(kI64, n) & LongLike(w, 3)), r};
}

// sin(remainder + quadrant * pi / 2)
Expr SinOf(const Expr& x, const Expr& quadrant, const Expr& remainder, const Binder& bind) {
  const Expr r = bind("r", remainder);
  const Expr z = bind("z", r * r);
  const Expr sine = r + r * z *
                            Polynomial(z, {2.7557313621385722e-06, -1.9841269829589539e-04, 8.3333333333322118e-03,
                                           -1.6666666666666631e-01});
  const Expr cosine = Polynomial(
      z, {-2.7557314351390663e-07, 2.4801587288851704e-05, -1.3888888888873056e-03, 4.1666666666665929e-02, -0.5, 1.0});
  const Expr odd = (quadrant & LongLike(x, 1)) != LongLike(x, 0),
             negative = (quadrant & LongLike(x, 2)) != LongLike(x, 0);
  const Expr y = bind("y", Select(odd, cosine, sine));
  return Narrow(Select(negative, -y, y));
}

constexpr double kLargestAngle = 1647099.0;  // 2^20 * pi / 2

}  // namespace

Expr ExpandSin(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Angle a = Reduce(x, bind);
  const Expr y = SinOf(x, a.quadrant, a.remainder, bind);
  const Expr inside = Unary(Op::kAbs, x) <= Constant(x, kLargestAngle);
  return Select(x == Constant(x, 0.0), x, Select(inside, y, Constant(x, kNan)));
}

Expr ExpandCos(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Angle a = Reduce(x, bind);
  const Expr y = SinOf(x, a.quadrant + LongLike(x, 1), a.remainder, bind);
  const Expr inside = Unary(Op::kAbs, x) <= Constant(x, kLargestAngle);
  return Select(inside, y, Constant(x, kNan));
}

Expr ExpandPow(Expr base, Expr exponent, const Binder& bind) {
  const Expr x = bind("x", base), y = bind("y", exponent);
  const Expr zero = Constant(x, 0.0), one = Constant(x, 1.0);
  const Expr a = bind("a", Unary(Op::kAbs, x));
  const Expr wa = bind("a", Wide(a)), wy = bind("y", Wide(y));
  const Expr usual = (a > zero) & (a < Constant(x, kInf));
  const Expr log = Select(usual, WideLog(wa, bind), Select(a == zero, Constant(wa, -kInf), Constant(wa, kInf)));
  const Expr l = bind("l", log);
  const Expr product = Select((l == Constant(l, 0.0)) | (y == zero), Constant(l, 0.0), wy * l);
  const Expr t = Binary(Op::kMin, Binary(Op::kMax, bind("t", product), Constant(l, -150.0)), Constant(l, 150.0));
  const Expr magnitude = bind("p", Narrow(WideExp(bind("t", t), bind)));
  const Expr whole = bind("whole", Unary(Op::kTrunc, y) == y);
  const Expr half = bind("half", y * Constant(x, 0.5));
  const Expr odd = whole & (Unary(Op::kTrunc, half) != half);
  const Expr sign_bits = ConstInt(WithLanes(kI32, x->type.lanes), INT32_MIN);
  const Expr flipped = Bitcast(kF32, Bitcast(kI32, magnitude) ^ (Bitcast(kI32, x) & sign_bits));
  const Expr signed_result = bind("p", Select(odd, flipped, magnitude));
  const Expr undefined = (x < zero) & (x > Constant(x, -kInf)) & ~whole;
  const Expr nan = (x != x) | (y != y) | undefined;
  const Expr result = Select(nan, Constant(x, kNan), signed_result);
  return Select((x == one) | (y == zero), one, result);
}

}  // namespace kernpack::sdk::ir
