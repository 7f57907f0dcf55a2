// What a reduction does with each value.
#ifndef KERNPACK_SDK_COMPILER_IR_TAKE_IN_H_
#define KERNPACK_SDK_COMPILER_IR_TAKE_IN_H_

#include <kernpack/sdk/ir/expr.h>

#include <utility>

namespace kernpack::sdk::ir {

// Whether a value is taken in as op(value, so far), not as op(so far, value): by min and max, so that what they are so
// far, which is never NaN, stays where neither is less.
inline bool TakesInOnLeft(Op op) { return op == Op::kMin || op == Op::kMax; }

inline Expr TakeIn(Op op, Expr so_far, Expr value) {
  if (TakesInOnLeft(op)) std::swap(so_far, value);
  return Binary(op, std::move(so_far), std::move(value));
}

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_TAKE_IN_H_
