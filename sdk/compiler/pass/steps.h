// Cutting a range into steps of several iterations.
#ifndef KERNPACK_SDK_COMPILER_PASS_STEPS_H_
#define KERNPACK_SDK_COMPILER_PASS_STEPS_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

struct Steps {
  Expr first, last;  // the range, each a variable or constant
  Expr count;        // whole steps
  Expr rest;         // where what is left begins
};
// Appends what computes them.
Steps MakeSteps(const Expr& begin, const Expr& end, int lanes, Block* out);

// Which of the iterations from `begin` on, one per lane, are before `end`, where at most a few steps are left. Compared in 32
// bits, whatever the loop counts in: masks for most elements are as wide.
inline Expr InRange(const Expr& begin, const Expr& end, int lanes) {
  return Ramp(ConstInt(kI32, 0), ConstInt(kI32, 1), lanes) < Broadcast(Cast(kI32, end - begin), lanes);
}

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_PASS_STEPS_H_
