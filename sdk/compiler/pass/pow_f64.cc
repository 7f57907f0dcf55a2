// pow of f64: 2^(y log2 |x|), the logarithm and the product with y in pairs of f64, since an exponent of up to 1074 takes
// 11 bits from the 53 of its fraction.
#include "pass/math_f64.h"

namespace kernpack::sdk::ir {
namespace {

constexpr double kLog2 = 0x1.62e42fefa39efp-1, kLog2First = 0x1.62e42f8p-1, kLog2Rest = 0x1.be8e7bcd5e4f2p-27;

// log2 of a positive finite number, to about 2^-66; `high` has 26 bits.
Pair Log2(const Expr& a, const Binder& bind) {
  // 2 / (3 log 2), which makes log2 of what follows.
  constexpr double kFactor = 0x1.ec709dc3a03fdp-1, kFirst = 0x1.ec709d8p-1, kRest = 0x1.0e80ff5d27f05p-27;
  const auto [n, m] = SplitF64(a, bind);
  // log m = 2/3 s (3 + s^2 + r), with s = (m - 1) / (m + 1) as a pair.
  const Expr below = bind("below", m - Constant(a, 1.0)), above = bind("above", m + Constant(a, 1.0));
  const Expr s = bind("s", below / above);
  const Expr s_high = bind("s_high", High(s)), above_high = bind("above_high", High(above));
  const Expr above_low = m - (above_high - Constant(a, 1.0));
  const Expr s_low = bind("s_low", ((below - s_high * above_high) - s_high * above_low) / above);
  const Expr z = bind("z", s * s);
  const Expr p =
      Polynomial(z, {1.7983219611734397e-01, 1.7512270603648133e-01, 2.0004473608067233e-01, 2.3076835385105943e-01,
                     2.7272728304083732e-01, 3.3333333326318354e-01, 4.2857142857167602e-01, 5.9999999999999964e-01});
  const Expr r = bind("r", z * z * p + s_low * (s_high + s));
  const Expr square = bind("square", s_high * s_high);
  const Expr sum = bind("sum", High(Constant(a, 3.0) + square + r));
  const Expr sum_rest = r - ((sum - Constant(a, 3.0)) - square);
  const Expr exact = bind("exact", s_high * sum), inexact = bind("inexact", s_low * sum + sum_rest * s);
  const Expr log_high = bind("log_high", High(exact + inexact));
  const Expr log_low = inexact - (log_high - exact);
  const Expr first = bind("first", log_high * Constant(a, kFirst));
  const Expr rest = bind("rest", log_high * Constant(a, kRest) + log_low * Constant(a, kFactor));
  const Expr high = bind("high", High((first + rest) + n));
  return {high, bind("low", rest - ((high - n) - first))};
}

// 2^(t.high + t.low) for |t.high| <= 1100.
Expr Exp2(const Pair& t, const Binder& bind) {
  const Expr n = bind("n", Unary(Op::kRound, t.high + t.low));
  const Expr fraction = bind("fraction", t.high - n);
  const Expr high = bind("high", High(fraction + t.low));
  const Expr exact = bind("exact", high * Constant(n, kLog2First));
  const Expr inexact = (t.low - (high - fraction)) * Constant(n, kLog2) + high * Constant(n, kLog2Rest);
  const Pair r = SumOfOrdered(exact, bind("inexact", inexact), bind);
  const Expr p = Constant(n, 1.0) + (r.high + (ExpTailF64(r.high) + (r.low + r.low * r.high)));
  return ScaleF64(p, bind("bits", GetBits(n + Constant(n, kShiftF64))), bind);
}

}  // namespace

Expr ExpandPowF64(Expr base, Expr exponent, const Binder& bind) {
  constexpr double kLargest = 1100;  // 2 to it is infinite, to its negative 0
  const Expr x = bind("x", base), y = bind("y", exponent);
  const Expr a = bind("a", Unary(Op::kAbs, x));
  const Expr usual = bind("usual", (a > Constant(x, 0.0)) & (a < Constant(x, kInf)));
  const Pair log = Log2(a, bind);
  // The number next to 1 to the power of 2^66 is infinite or 0, too.
  const Expr within = bind("within", AtMost(0x1p66, AtLeast(-0x1p66, y)));
  const Expr y_high = bind("y_high", High(within));
  const Expr unusual = within * Select(a < Constant(x, 1.0), Constant(x, -kInf), Constant(x, kInf));
  const Expr product = bind("product", Select(usual, y_high * log.high, unusual));
  const Expr low = (within - y_high) * log.high + within * log.low;
  const Expr simple = usual & (Unary(Op::kAbs, product) < Constant(x, kLargest));
  const Pair t{bind("t", AtMost(kLargest, AtLeast(-kLargest, product))),
               bind("t_low", Select(simple, low, Constant(x, 0.0)))};
  return SignedPower(x, y, bind("p", Exp2(t, bind)), bind);
}

}  // namespace kernpack::sdk::ir
