// Launches that no device of a target runs.
#ifndef KERNPACK_SDK_COMPILER_IR_LAUNCH_LIMITS_H_
#define KERNPACK_SDK_COMPILER_IR_LAUNCH_LIMITS_H_

#include <kernpack/sdk/ir/stmt.h>

#include "ir/target_limits.h"

namespace kernpack::sdk::ir {

// ValueError naming function, launch, limit and target, where extents and sizes are constants; backends check the others when
// they launch.
void CheckLaunches(const FuncNode& f, const TargetLimits& limits);
void CheckLaunches(const IRModule& module, const Target& target);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_LAUNCH_LIMITS_H_
