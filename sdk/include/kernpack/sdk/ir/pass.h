// Passes: an IRModule in, an IRModule out, each printable with Print(). The meaning stays what the interpreter says of
// the module before it: integers and the order of float operations exactly, math functions within the error that
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

// Extents of allocated buffers become constants or variables, so that each is evaluated once.
IRModule BindExtents(const IRModule& module);
// Loops marked unrolled with constant bounds become their iterations; those that would give more than 16384 statements
// become serial loops.
IRModule Unroll(const IRModule& module);
// `reduce` becomes loops: order any n keeps n partial results in a vector, order sequential one.
IRModule LowerReductions(const IRModule& module);
// Loops marked vectorized become vector code; what is left over a scalar loop (peeled) or one masked step. A body that
// vectors cannot say (inner loops, calls, asserts, externs) becomes a serial loop.
IRModule Vectorize(const IRModule& module);
// Math functions and pow become arithmetic, of f32 and of f64.
// Reductions must be lowered (ValueError).
IRModule ExpandMath(const IRModule& module);
// Folds constants by the semantics table, drops what has no effect.
IRModule Simplify(const IRModule& module);

// For compilers that do badly with vectors wider than a register of `bytes`:
// Loops marked vectorized take as many lanes as fit, where they were given more. Before Lower().
IRModule NarrowLoops(const IRModule& module, int bytes);
// Every vector has the lanes that fit of the function's widest elements; wider ones become several. After Lower().
IRModule SplitVectors(const IRModule& module, int bytes);
// Local buffers that are only used as vectors at constant places become one buffer for each place. After Lower().
IRModule SplitLocals(const IRModule& module);

// The module with each access marked (Position::access), through schedules and passes, and how each is written.
struct AccessLabel {
  std::string text;  // "table[idx[i]]"
  size_t rank;  // a schedule may put axes before these
};
struct LabelledModule {
  IRModule module;
  std::vector<AccessLabel> labels;
};
LabelledModule LabelAccesses(const IRModule& module);
// A lowered module with every load and store checked whose indices are not seen to be inside: before it stands an assert,
// IndexError, that names function, access, axis, index and extent, and where that fails it touches no memory: a load gives 0.
// Lanes whose mask is false access nothing. `labels`: of LabelAccesses(); what it did not mark is said as it is after lowering.
IRModule CheckAccesses(const IRModule& module, const std::vector<AccessLabel>& labels);

// What generators run, in order.
const std::vector<Pass>& LoweringPasses();
using PassObserver = std::function<void(const Pass& pass, const IRModule& after)>;
// `observer` (nullable) sees the module after each pass.
IRModule RunPasses(IRModule module, const std::vector<Pass>& passes, const PassObserver& observer = {});
// Verify(), then LoweringPasses(). Errors: what either finds.
IRModule Lower(const IRModule& module, const PassObserver& observer = {});

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_PASS_H_
