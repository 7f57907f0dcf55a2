// Where everything in a module lives: constraints joined, what stays open given a default, all in canonical form.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_SOLVE_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_SOLVE_H_

#include <kernpack/sdk/program/plan.h>

#include "plan/effects.h"

namespace kernpack::sdk::program {

// By program: of each value, and of each result where it is handed out.
struct Places {
  std::vector<std::vector<VirtualDevice>> values;
  std::vector<std::vector<VirtualDevice>> results;
};

// `follow_uses`: values and the calls that use them share a place where they can. Without, only what must share one does.
// ValueError where constraints conflict and no copy may bridge them; only with `follow_uses` is every conflict looked for.
Places Solve(const ProgramModule& module, const PlanContext& context, const Writes& writes, bool follow_uses);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_SOLVE_H_
