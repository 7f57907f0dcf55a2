#include "devices/target/match_device.h"

#include <kernpack/host/host.h>
#include "shared/target_kinds.h"
#include "shared/target_text.h"

#include "shared/bytes.h"
#include "devices/target/cpu_machine.h"

namespace kernpack::host {

std::span<const CpuArch* const> CpuArchs() { return kHostCpuArchs; }

int32_t DeviceTypeNamed(std::string_view name) {
  KpDLDevice device{};
  if (kp_device_from_name(Bytes(name), &device) == 0) return device.device_type;
  kp_error_clear();
  return 0;
}

std::string DeviceTypeText(int32_t device_type) { return kp_device_type_name(device_type); }

TargetMatch MatchCpu(std::string_view code, const CpuSpec& machine) {
  TargetWords wanted;
  if (std::string problem = ReadTargetWords(code, &wanted); !problem.empty()) return Unmatched(std::move(problem));
  const TargetWords kind{kLlvmKind, {}};
  TargetMatch match = MatchWords(wanted, kind, &machine);
  if (match.rank < 0) return match;
  const CpuSpec tileless = WithoutTiles(machine);
  if (tileless.features == machine.features || MatchWords(wanted, kind, &tileless).rank >= 0 || AskForTiles()) {
    return match;
  }
  return Unmatched("Linux doesn't give this process amx-tile");
}

TargetMatch MatchDevice(std::string_view code, KpDLDevice device, const char* device_arch) {
  TargetWords wanted;
  if (std::string problem = ReadTargetWords(code, &wanted); !problem.empty()) return Unmatched(std::move(problem));
  TargetWords has{kp_device_type_name(device.device_type), {}};
  if (device_arch) has.options.push_back({"arch", device_arch});
  return MatchWords(wanted, has, nullptr);
}

}  // namespace kernpack::host
