#include "schedule/arithmetic.h"

#include <kernpack/sdk/ir/equal.h>

#include <algorithm>

#include "ir/scalar.h"

namespace kernpack::sdk::ir {
namespace {

bool Is(const Expr& e, int64_t value) {
  int64_t got = 0;
  return IsConstInt(e, &got) && got == value;
}

Expr Fold(Op op, const Expr& a, const Expr& b) {
  int64_t x = 0, y = 0;
  if (!IsConstInt(a, &x) || !IsConstInt(b, &y)) return Binary(op, a, b);
  return Const(a->type, EvalBinary(op, a->type, static_cast<uint64_t>(x), static_cast<uint64_t>(y)));
}

}  // namespace

Expr Sum(const Expr& a, const Expr& b) { return Is(a, 0) ? b : Is(b, 0) ? a : Fold(Op::kAdd, a, b); }
Expr Difference(const Expr& a, const Expr& b) { return Is(b, 0) ? a : Equal(a, b) ? Expr(0) : Fold(Op::kSub, a, b); }
Expr Product(const Expr& a, const Expr& b) {
  return Is(a, 0) || Is(b, 0) ? Expr(0) : Is(a, 1) ? b : Is(b, 1) ? a : Fold(Op::kMul, a, b);
}
Expr Quotient(const Expr& a, int64_t divisor) { return divisor == 1 ? a : Fold(Op::kDiv, a, Expr(divisor)); }
Expr CeilDiv(const Expr& a, int64_t divisor) { return divisor == 1 ? a : Quotient(Sum(a, Expr(divisor - 1)), divisor); }
Expr Smaller(const Expr& a, const Expr& b) { return Equal(a, b) ? a : Fold(Op::kMin, a, b); }
Expr Larger(const Expr& a, const Expr& b) { return Equal(a, b) ? a : Fold(Op::kMax, a, b); }
Expr CastLike(const Var& var, const Expr& a) { return a->type == var->type ? a : Cast(var->type, a); }
Expr AsIndex(const Expr& a) { return a->type == kI64 ? a : Cast(kI64, a); }

}  // namespace kernpack::sdk::ir
