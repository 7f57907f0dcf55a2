// The step of a reduction for each value.
#ifndef KERNPACK_SDK_COMPILER_IR_TAKE_IN_H_
#define KERNPACK_SDK_COMPILER_IR_TAKE_IN_H_

#include <kernpack/sdk/ir/expr.h>

#include <utility>

namespace kernpack::sdk::ir {

// True if a reduction computes op(value, so far), not op(so far, value). This is so for min and max: the result so far,
// which is never NaN, then stays if neither value is less.
inline bool TakesInOnLeft(Op op) { return op == Op::kMin || op == Op::kMax; }

inline Expr TakeIn(Op op, Expr so_far, Expr value) {
  if (TakesInOnLeft(op)) std::swap(so_far, value);
  return Binary(op, std::move(so_far), std::move(value));
}

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_TAKE_IN_H_
