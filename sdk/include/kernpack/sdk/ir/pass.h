// Passes: an IRModule in, an IRModule out, each printable with Print(). The interpreter's results for
// the module stay the same: integers and the order of float operations exactly, math functions within the error that
// docs/ir.md states.
#ifndef KERNPACK_SDK_IR_PASS_H_
#define KERNPACK_SDK_IR_PASS_H_

#include <kernpack/sdk/ir/stmt.h>

#include <functional>

namespace kernpack::sdk::ir {

struct Pass {
  const char* name;
  IRModule (*run)(const IRModule& module);
};

// `while c` becomes `while true`, with a `break` unless c holds at the beginning of its body.
IRModule LowerWhile(const IRModule& module);
// Extents of allocated buffers become constants or variables, so that each is evaluated once.
IRModule BindExtents(const IRModule& module);
// Loops marked unrolled with constant bounds become their iterations; those that would give more than 16384 statements
// become serial loops.
IRModule Unroll(const IRModule& module);
// `reduce` becomes loops: order any n keeps n partial results in a vector, order sequential one.
IRModule LowerReductions(const IRModule& module);
// Loops marked vectorized become vector code; the remainder a scalar loop (peeled) or one masked step. A body that
// vectors cannot express (inner loops, calls, asserts, externs) becomes a serial loop.
IRModule Vectorize(const IRModule& module);
// Math functions and pow of f32 and f64 become arithmetic.
// Reductions must be lowered before (else ValueError).
IRModule ExpandMath(const IRModule& module);
// Folds constants by the semantics table, and removes code without effect.
IRModule Simplify(const IRModule& module);

// For compilers that generate slow code for vectors wider than a register of `bytes`:
// Reduces the lanes of loops marked vectorized to those that fit. Call before Lower().
IRModule NarrowLoops(const IRModule& module, int bytes);
// Splits vectors, so that each has as many lanes as fit of the function's widest elements. Call after Lower().
IRModule SplitVectors(const IRModule& module, int bytes);
// Local buffers that are only used as vectors at constant places become one buffer per place. Call after Lower().
IRModule SplitLocals(const IRModule& module);

// The module with each access marked (Position::access), and the source text of each. Schedules and passes keep the marks.
struct AccessLabel {
  std::string text;  // "table[idx[i]]"
  size_t rank;  // in the source; a schedule may add axes before these
};
struct LabelledModule {
  IRModule module;
  std::vector<AccessLabel> labels;
};
LabelledModule LabelAccesses(const IRModule& module);
// Adds checks to a lowered module: before each load or store whose indices are not provably in range, an assert raises an
// IndexError with function, access, axis, index and extent. A failed access uses no memory: a load gives 0.
// Lanes whose mask is false aren't checked. `labels`: of LabelAccesses(); unmarked accesses are named as after lowering.
IRModule CheckAccesses(const IRModule& module, const std::vector<AccessLabel>& labels);

// The passes that generators run, in order.
const std::vector<Pass>& LoweringPasses();
using PassObserver = std::function<void(const Pass& pass, const IRModule& after)>;
// `observer` (nullable) is called with the module after each pass.
IRModule RunPasses(IRModule module, const std::vector<Pass>& passes, const PassObserver& observer = {});
// Verify(), then LoweringPasses(). Errors of both.
IRModule Lower(const IRModule& module, const PassObserver& observer = {});

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_PASS_H_
