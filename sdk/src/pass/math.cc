// Range reductions are the usual ones, polynomials those of Cephes; erf's are minimax fits on [0, 0.93] and beyond.
// Products that must be exact have few enough bits, so that contraction changes nothing.
#include "pass/math.h"

#include <cmath>

namespace kernpack::sdk::ir {

Expr Constant(const Expr& like, double value) { return ConstFloat(like->type, value); }

Expr Polynomial(const Expr& x, std::initializer_list<double> coefficients) {
  Expr p;
  for (const double c : coefficients) p = p ? p * x + Constant(x, c) : Constant(x, c);
  return p;
}

namespace {

Expr IntLike(const Expr& x, int64_t value) { return ConstInt(WithLanes(kI32, x->type.lanes), value); }
Expr IsNan(const Expr& x) { return x != x; }
Expr Abs(const Expr& x) { return Unary(Op::kAbs, x); }
// The magnitude of `value`, which is not negative, with the sign of x.
Expr WithSignOf(const Expr& x, const Expr& value) {
  return Bitcast(kF32, Bitcast(kI32, value) | (Bitcast(kI32, x) & IntLike(x, INT32_MIN)));
}

// e^x in parts: y * 2^n with y between 0.7 and 1.5, for -104 <= x <= 89.
struct ExpParts {
  Expr y;
  Expr shifted;  // n, an integer, in the low bits: n + kShift
};
constexpr double kShift = 12582912.0;  // 1.5 * 2^23: adding it rounds to an integer and leaves that in the low bits
constexpr int64_t kShiftBits = 0x4b400000;

ExpParts SplitExp(const Expr& x, const Binder& bind) {
  const Expr shifted = bind("n", x * Constant(x, 1.44269504088896341) + Constant(x, kShift));
  const Expr n = bind("n", shifted - Constant(x, kShift));
  const Expr r = bind("r", (x - n * Constant(x, 0.693359375)) - n * Constant(x, -2.12194440e-4));
  const Expr p = Polynomial(
      r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  return {bind("y", p * (r * r) + r + Constant(x, 1.0)), shifted};
}

// 2^k for -126 <= k <= 127.
Expr PowerOfTwo(const Expr& x, const Expr& k) { return Bitcast(kF32, (k + IntLike(x, 127)) << IntLike(x, 23)); }

// e^x for -87 <= x <= 88, where it is neither infinite nor denormal.
Expr ExpInRange(const Expr& x, const Binder& bind) {
  const ExpParts e = SplitExp(x, bind);
  return e.y * PowerOfTwo(x, Bitcast(kI32, e.shifted) - IntLike(x, kShiftBits));
}

}  // namespace

Expr ExpandExp(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const ExpParts e =
      SplitExp(bind("x", Binary(Op::kMin, Binary(Op::kMax, x, Constant(x, -104.0)), Constant(x, 89.0))), bind);
  // In two steps, since 2^n itself may be out of range where the result is not.
  const Expr k = bind("k", Bitcast(kI32, e.shifted) - IntLike(x, kShiftBits));
  const Expr half = bind("k", k >> IntLike(x, 1));
  return Select(IsNan(x), x, e.y * PowerOfTwo(x, half) * PowerOfTwo(x, k - half));
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

Expr ExpandTanh(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Expr a = bind("a", Abs(x));
  const Expr z = bind("z", a * a);
  const Expr p =
      Polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
  const Expr small = a + a * (z * p);
  // From 10 on tanh is 1 in f32.
  const Expr e = bind("e", ExpInRange(bind("d", Binary(Op::kMin, a + a, Constant(x, 20.0))), bind));
  const Expr large = Constant(x, 1.0) - Constant(x, 2.0) / (e + Constant(x, 1.0));
  const Expr y = bind("y", Select(a < Constant(x, 0.625), small, large));
  return Select(IsNan(x), x, WithSignOf(x, y));
}

Expr ExpandErf(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Expr a = bind("a", Binary(Op::kMin, Abs(x), Constant(x, 4.0)));  // erf(4) is 1 in f32
  const Expr z = bind("z", a * a);
  const Expr small = a + a * Polynomial(z, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1,
                                            -3.76125336e-1, 1.28379166e-1});
  const Expr t = Polynomial(a, {-1.72853470e-5, 3.83197126e-4, -3.88396438e-3, 2.42546219e-2, -1.06777877e-1,
                                -6.34846687e-1, -1.28717512e-1});
  const Expr large = Constant(x, 1.0) - ExpInRange(bind("t", a * t - a), bind);  // of -18 to 0
  const Expr y = bind("y", Select(a > Constant(x, 0.927734375), large, small));
  return Select(IsNan(x), x, WithSignOf(x, y));
}

Expr ExpandSigmoid(Expr value, const Binder& bind) {
  const Expr x = bind("x", value);
  const Expr e = bind("e", ExpandExp(-Abs(x), bind));
  const Expr s = bind("s", Constant(x, 1.0) / (Constant(x, 1.0) + e));
  return Select(x < Constant(x, 0.0), e * s, s);
}

}  // namespace kernpack::sdk::ir
