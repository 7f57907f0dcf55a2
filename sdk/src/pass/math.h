// Functions as arithmetic: each takes and gives a value of f32, or of f64 where its name says so, scalar or vector, and may
// bind parts of it.
#ifndef KERNPACK_SDK_SRC_PASS_MATH_H_
#define KERNPACK_SDK_SRC_PASS_MATH_H_

#include <kernpack/sdk/ir/stmt.h>

#include <limits>

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
Expr ExpandSigmoidF64(Expr x, const Binder& bind);

// c[0] x^(n-1) + ... + c[n-1], in the type of x.
Expr Polynomial(const Expr& x, std::initializer_list<double> coefficients);
// A constant of the type and lanes of `like`.
Expr Constant(const Expr& like, double value);
// Within the limits; a NaN stays one.
Expr AtMost(double limit, const Expr& x);
Expr AtLeast(double limit, const Expr& x);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_PASS_MATH_H_
