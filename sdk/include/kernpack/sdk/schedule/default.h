// Schedules for functions that have none.
#ifndef KERNPACK_SDK_SCHEDULE_DEFAULT_H_
#define KERNPACK_SDK_SCHEDULE_DEFAULT_H_

#include <kernpack/sdk/ir/stmt.h>
#include <kernpack/sdk/target.h>

namespace kernpack::sdk::ir {

// A pass: functions whose loops are all serial get a schedule for their target (their own, else the module's, else
// `target`); results stay the same to the bit. Functions with a loop of another kind, a launch or vectors are not
// changed, nor are those for targets other than CPU, CUDA and OpenCL. ValueError for a module that does not verify,
// NotImplementedError for host code that a device's function cannot have (docs/schedules.md).
IRModule ScheduleByDefault(const IRModule& module, const Target& target);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SCHEDULE_DEFAULT_H_
