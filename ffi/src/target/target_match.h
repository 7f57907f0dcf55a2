// May code that was built for one target run on what another describes, how specific is it, and why. CPU variants of modules are
// chosen by it, and the SDK asks it through the extension "kernpack.target". Of other devices the backend is asked first
// (match_target of device_api.h), then MatchDevice.
#ifndef KERNPACK_SRC_TARGET_TARGET_MATCH_H_
#define KERNPACK_SRC_TARGET_TARGET_MATCH_H_

#include <string>
#include <string_view>

#include <kernpack/abi.h>

#include "target/cpu_spec.h"

namespace kernpack::host {

struct TargetMatch {
  int rank;  // below 0: not satisfied; else above 0, larger is more specific
  std::string reason;  // one sentence fragment, for people
};

// Both in command-line form. An option that only one side states decides nothing, but that a machine that does not tell its
// architecture, or has no such feature, runs no code that needs one.
TargetMatch MatchTargets(std::string_view code, std::string_view machine);

// `machine` is this process's processor, or what stands for it.
TargetMatch MatchCpu(std::string_view code, const CpuSpec& machine);

// A device that is no CPU. `device_arch`: as its backend names it ("sm_90"); NULL when no backend for it is loaded.
TargetMatch MatchDevice(std::string_view code, KpDLDevice device, const char* device_arch);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_TARGET_TARGET_MATCH_H_
