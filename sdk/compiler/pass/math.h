// Functions as arithmetic: each takes and gives a value of f32, or of f64 where its name says so, scalar or vector, and may
// bind parts of it.
#ifndef KERNPACK_SDK_COMPILER_PASS_MATH_H_
#define KERNPACK_SDK_COMPILER_PASS_MATH_H_

#include <kernpack/sdk/ir/stmt.h>

#include <functional>
#include <limits>
#include <vector>

#include "pass/each.h"

namespace kernpack::sdk::ir {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Gives a value that is used more than once a name, in `out`.
struct Binder {
  Block* out;
  Expr operator()(const char* name, const Expr& value) const { return Bound(value, name, out); }
};

Expr ExpandExp(Expr x, const Binder& bind);
Expr ExpandLog(Expr x, const Binder& bind);
Expr ExpandTanh(Expr x, const Binder& bind);
Expr ExpandErf(Expr x, const Binder& bind);
Expr ExpandSigmoid(Expr x, const Binder& bind);
Expr ExpandPow(Expr x, Expr y, const Binder& bind);
Expr ExpandSin(Expr x, const Binder& bind);
Expr ExpandCos(Expr x, const Binder& bind);

Expr ExpandExpF64(Expr x, const Binder& bind);
Expr ExpandLogF64(Expr x, const Binder& bind);
Expr ExpandTanhF64(Expr x, const Binder& bind);
Expr ExpandErfF64(Expr x, const Binder& bind);
Expr ExpandSigmoidF64(Expr x, const Binder& bind);
Expr ExpandPowF64(Expr x, Expr y, const Binder& bind);
Expr ExpandSinF64(Expr x, const Binder& bind);
Expr ExpandCosF64(Expr x, const Binder& bind);

// x to the power of y, once the power of |x| is known: signs, and what is special in C's pow.
Expr SignedPower(const Expr& x, const Expr& y, const Expr& of_magnitude, const Binder& bind);
// `usual`, but where `is_rare` holds what `rare` makes, which runs only if it holds for some lane: f(Binder) -> values.
std::vector<Expr> OrWhereRare(const std::vector<Expr>& usual, const Expr& is_rare,
                              const std::function<std::vector<Expr>(const Binder&)>& rare, const Binder& bind);
inline Expr IsFinite(const Expr& x) { return Unary(Op::kAbs, x) < ConstFloat(x->type, kInf); }

// c[0] x^(n-1) + ... + c[n-1], in the type of x.
Expr Polynomial(const Expr& x, std::initializer_list<double> coefficients);
// A constant of the type and lanes of `like`.
Expr Constant(const Expr& like, double value);
// Within the limits; a NaN stays one.
Expr AtMost(double limit, const Expr& x);
Expr AtLeast(double limit, const Expr& x);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_PASS_MATH_H_
