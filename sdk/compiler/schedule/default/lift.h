// Plain loops as stage programs, and back.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_LIFT_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_LIFT_H_

#include <kernpack/sdk/schedule/schedule.h>

#include <optional>
#include <set>

namespace kernpack::sdk::ir {

// A nest of serial loops from 0 around one store to [i, j, ...], of a value or of a `reduce`.
struct Lifted {
  StageProgram program;  // its last stage is called as its buffer
  Buffer target;  // what it stores to

  const Stage& stage() const { return program.stages.back(); }
};

// The statements around a nest in its function.
struct Surroundings {
  const FuncNode* function;
  std::set<const VarNode*> lets;  // before the nest: the value may use them, extents may not
};

// Nothing where the statement is not of that form, reads other elements of what it stores, or uses what has no value
// there. `with_lets`: values that are named inside the innermost loop are written where they are used.
std::optional<Lifted> LiftNest(const Surroundings& around, const Stmt& nest, bool with_lets = false);
// A nest whose value is computed of one `reduce`, the same wherever it is used, as two stages: all of them, and what is
// computed of each.
std::optional<Lifted> WithoutReduce(const Lifted& lifted);
// The buffer for the elements of a stage.
Buffer MakeStageBuffer(const Stage& stage, Type element);
// The loops of the schedule, storing where the nest did.
Block LowerNest(const Lifted& lifted, const Schedule& schedule);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_LIFT_H_
