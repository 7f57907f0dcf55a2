// Limits of a target's devices, and launches that exceed the limits of all such devices.
#ifndef KERNPACK_SDK_COMPILER_IR_LAUNCH_LIMITS_H_
#define KERNPACK_SDK_COMPILER_IR_LAUNCH_LIMITS_H_

#include <kernpack/sdk/target.h>
#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// The limits for code of a target.
struct TargetLimits {
  std::string kind;        // "" when there is no target
  std::string text;        // canonical
  bool is_device = false;  // memory is not the host's
  // 0: not known before the device is.
  int64_t threads = 0;  // a block
  int64_t block[3] = {0, 0, 0};
  int64_t grid[3] = {0, 0, 0};
  int64_t shared_bytes = 0;  // a block
};
TargetLimits GetLimits(const Target& target);
// Of a function's or module's own target; one that this SDK does not know is some device's.
TargetLimits GetLimits(const std::string& target);

// ValueError naming function, launch, limit and target, where extents and sizes are constants; backends check the others when
// they launch.
void CheckLaunches(const FuncNode& f, const TargetLimits& limits);
void CheckLaunches(const IRModule& module, const Target& target);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_LAUNCH_LIMITS_H_
