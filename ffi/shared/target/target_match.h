// May code that was built for one target run on what another describes, how specific is it, and why. The host chooses variants of
// modules by it (target/match_device.h there), and the SDK answers for any two targets.
#ifndef KERNPACK_SHARED_TARGET_TARGET_MATCH_H_
#define KERNPACK_SHARED_TARGET_TARGET_MATCH_H_

#include <string>
#include <string_view>

#include <kernpack/abi.h>

#include "shared/target/cpu_spec.h"

namespace kernpack::host {

struct TargetMatch {
  int rank;  // below 0: not satisfied; else above 0, larger is more specific
  std::string reason;  // one sentence fragment, for people
};

// As words. `processor`: the machine's, read of its words or detected; NULL where it isn't a CPU. An option that only one side states
// decides nothing, but that a machine that does not tell its architecture, or has no such feature, runs no code that needs one.
TargetMatch MatchWords(const TargetWords& code, const TargetWords& machine, const CpuSpec* processor);
TargetMatch Unmatched(std::string reason);

// The device type of that name, 0 where there is none, and its name. Host and SDK each define them, as CpuArchs().
int32_t DeviceTypeNamed(std::string_view name);
std::string DeviceTypeText(int32_t device_type);

}  // namespace kernpack::host

#endif  // KERNPACK_SHARED_TARGET_TARGET_MATCH_H_
