// pow, sin and cos of f32 go through f64, which makes their range reductions simple.

#include "pass/math_f64.h"

namespace kernpack::sdk::ir {
namespace {

Expr Wide(const Expr& x) { return Cast(kF64, x); }
Expr Narrow(const Expr& x) { return Cast(kF32, x); }

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
  Expr quadrant;   // i64; its lowest two bits count
  Expr remainder;  // f64, within pi / 4
};

// For angles up to 2^20 * pi / 2: n * kHigh is exact while n has at most 20 bits, n * kMiddle then carries the next 33.
constexpr double kLargestSimple = 1647099.0;

Angle ReduceSimply(const Expr& x, const Binder& bind) {
  constexpr double kHigh = 1.57079632673412561417, kMiddle = 6.07710050630396597660e-11,
                   kLow = 2.02226624879595063154e-21;
  const Expr w = bind("w", Wide(x));
  const Expr n = bind("n", Unary(Op::kRound, w * Constant(w, 0.63661977236758134308)));
  const Expr r = ((w - n * Constant(w, kHigh)) - n * Constant(w, kMiddle)) - n * Constant(w, kLow);
  return {Cast(kI64, n), r};
}

// Payne and Hanek: the 96 bits of 2 / pi that decide quadrant and remainder, times the mantissa, in fixed point.
Angle ReduceLarge(const Expr& x, const Binder& bind) {
  constexpr uint64_t kTwoOverPi[] = {0,          0x28be60db, 0x9391054a, 0x7f09d5f4,
                                     0x7d4d3770, 0x36d8a566, 0x4f10e410, 0x7f9458ea};
  constexpr Type kU32(KP_DTYPE_UINT, 32);
  const auto constant = [&](uint64_t v) { return BitsLike(x, v); };
  const Expr bits = bind("bits", Cast(kU64, Bitcast(kU32, x)));
  const Expr exponent = bind("exponent", ((bits >> constant(23)) & constant(255)) - constant(126));  // at least 20
  const Expr mantissa = bind("mantissa", ((bits << constant(8)) & constant(0xffffffff)) | constant(0x80000000));
  const Expr word = bind("word", exponent >> constant(5)), shift = bind("shift", exponent & constant(31));
  const auto word_at = [&](size_t offset) {
    Expr w = constant(kTwoOverPi[offset]);
    for (uint64_t i = 1; i < 5; ++i) w = Select(word == constant(i), constant(kTwoOverPi[offset + i]), w);
    return bind("word", w);
  };
  const Expr w0 = word_at(0), w1 = word_at(1), w2 = word_at(2), w3 = word_at(3);
  const auto shifted = [&](const Expr& high, const Expr& low) {
    return (((high << constant(32)) | low) << shift >> constant(32)) & constant(0xffffffff);
  };
  const Expr low = mantissa * shifted(w2, w3), middle = mantissa * shifted(w1, w2) + (low >> constant(32));
  const Expr product = bind("product", (mantissa * shifted(w0, w1) << constant(32)) + middle);  // 2 bits, 62 bits
  // To the nearest quadrant: what is left is from -1/2 to 1/2.
  const Expr rounded = bind("quadrant", (product + constant(uint64_t{1} << 61)) >> constant(62));
  const Expr left = Cast(kF64, Bitcast(kI64, product - (rounded << constant(62))));
  const Expr r = bind("r", left * Constant(left, 1.57079632679489661923 * 0x1p-62));
  const Expr quadrant = bind("quadrant", Bitcast(kI64, rounded));
  const Expr negative = bind("negative", x < Constant(x, 0.0));
  return {Select(negative, -quadrant, quadrant), Select(negative, -r, r)};
}

Angle Reduce(const Expr& x, const Binder& bind) {
  const Angle simple = ReduceSimply(x, bind);
  const auto large = [&x](const Binder& inner) {
    const Angle a = ReduceLarge(x, inner);
    return std::vector<Expr>{a.quadrant, a.remainder};
  };
  const std::vector<Expr> parts =
      OrWhereRare({simple.quadrant, simple.remainder}, Unary(Op::kAbs, x) > Constant(x, kLargestSimple), large, bind);
  return {parts[0], parts[1]};
}

// sin(remainder + quadrant * pi / 2)
Expr BuildSin(const Expr& x, const Expr& quadrant, const Expr& remainder, const Binder& bind) {
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

}  // namespace

Expr ExpandSin(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Angle a = Reduce(x, bind);
  const Expr y = BuildSin(x, a.quadrant, a.remainder, bind);
  return Select(x == Constant(x, 0.0), x, Select(IsFinite(x), y, Constant(x, kNan)));
}

Expr ExpandCos(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Angle a = Reduce(x, bind);
  const Expr y = BuildSin(x, a.quadrant + LongLike(x, 1), a.remainder, bind);
  return Select(IsFinite(x), y, Constant(x, kNan));
}

Expr ExpandPow(Expr base, Expr exponent, const Binder& bind) {
  const Expr x = bind("x", base), y = bind("y", exponent);
  const Expr zero = Constant(x, 0.0);
  const Expr a = bind("a", Unary(Op::kAbs, x));
  const Expr wa = bind("a", Wide(a)), wy = bind("y", Wide(y));
  const Expr usual = (a > zero) & (a < Constant(x, kInf));
  const Expr log = Select(usual, WideLog(wa, bind), Select(a == zero, Constant(wa, -kInf), Constant(wa, kInf)));
  const Expr l = bind("l", log);
  const Expr product = Select((l == Constant(l, 0.0)) | (y == zero), Constant(l, 0.0), wy * l);
  const Expr t = Binary(Op::kMin, Binary(Op::kMax, bind("t", product), Constant(l, -150.0)), Constant(l, 150.0));
  return SignedPower(x, y, bind("p", Narrow(WideExp(bind("t", t), bind))), bind);
}

}  // namespace kernpack::sdk::ir
