// Cutting a range into steps of several iterations.
#ifndef KERNPACK_SDK_SRC_PASS_STEPS_H_
#define KERNPACK_SDK_SRC_PASS_STEPS_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

struct Steps {
  Expr first, last;  // the range, each a variable or constant
  Expr count;        // whole steps
  Expr rest;         // where what is left begins
};
// Appends what computes them.
Steps MakeSteps(const Expr& begin, const Expr& end, int lanes, Block* out);

// Where the lanes of the last, partial step are still inside the range.
inline Expr InRange(const Steps& steps, int lanes) {
  return Ramp(steps.rest, ConstInt(steps.rest->type, 1), lanes) < Broadcast(steps.last, lanes);
}

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_PASS_STEPS_H_
