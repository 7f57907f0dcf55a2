// Plain loops as stage programs, and back.
#ifndef KERNPACK_SDK_SRC_SCHEDULE_DEFAULT_LIFT_H_
#define KERNPACK_SDK_SRC_SCHEDULE_DEFAULT_LIFT_H_

#include <kernpack/sdk/schedule/schedule.h>

#include <optional>

namespace kernpack::sdk::ir {

// A nest of serial loops from 0 around one store to [i, j, ...], of a value or of a `reduce`.
struct Lifted {
  StageProgram program;  // of one stage, called as its buffer
  Buffer target;  // what it stores to

  const Stage& stage() const { return program.stages[0]; }
};
// Nothing where the statement is not of that form, reads what it stores, or uses what only its surroundings define.
std::optional<Lifted> LiftNest(const FuncNode& f, const StmtNode& nest);
// The loops of the schedule, storing where the nest did.
Block LowerNest(const Lifted& lifted, const Schedule& schedule);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_SCHEDULE_DEFAULT_LIFT_H_
