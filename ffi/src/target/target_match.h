// Chooses among the variants of an op: does a device satisfy a target string, how specific is that, and why.
#ifndef KERNPACK_SRC_TARGET_TARGET_MATCH_H_
#define KERNPACK_SRC_TARGET_TARGET_MATCH_H_

#include <string>
#include <string_view>

#include <kernpack/abi.h>

namespace kernpack::host {

struct TargetMatch {
  int rank;            // below 0: not satisfied; else above 0, larger is more specific
  std::string reason;  // one sentence fragment, for people
};

// `target`: canonical command-line form, "llvm -mcpu=x86-64-v3", "cuda -arch=sm_90". `cpu_level` is what to take this
// processor for. `device_arch` is the device's architecture as its backend names it ("sm_90"); NULL when no backend for
// that device is loaded.
TargetMatch MatchTarget(std::string_view target, KpDLDevice device, int cpu_level, const char* device_arch);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_TARGET_TARGET_MATCH_H_
