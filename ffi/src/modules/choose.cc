// Choosing the variant of a function for a device.
#include <string>

#include "base/log.h"
#include "modules/loaded_module.h"
#include "values/signature/signature.h"
#include "devices/target/match_device.h"

namespace kernpack::host {
namespace {

// The device type that a baseline runs on: what `with on "..."` says, else the CPU.
int32_t BaselineDeviceType(const Function& function) {
  const int32_t on = function.program ? signature::View{function.program}.OnDeviceType() : 0;
  return on != 0 ? on : static_cast<int32_t>(KP_DEVICE_CPU);
}

}  // namespace

TargetMatch Suits(const KpLoadedModule& module, const Function& function, const Variant& variant, KpDLDevice device) {
  if (module.any_device) return {0, "it checks its device itself"};
  if (const char* target = variant.info().target) {
    if (device.device_type == KP_DEVICE_CPU) return MatchCpu(target, module.cpu);
    if (auto match = AskBackend(target, device)) return *std::move(match);
    const auto arch = DeviceArch(device);
    return MatchDevice(target, device, arch ? arch->c_str() : nullptr);
  }
  const int32_t type = BaselineDeviceType(function);
  if (type == device.device_type) return {0, std::string("baseline for ") + kp_device_type_name(type)};
  return {-1, std::string("the baseline is for ") + kp_device_type_name(type)};
}

uint32_t ChooseVariant(const KpLoadedModule& module, const Function& function, KpDLDevice device) {
  uint32_t best = kNoVariant;
  int best_rank = -1;
  for (uint32_t i = 0; i < function.variants.size(); ++i) {
    const int rank = Suits(module, function, function.variants[i], device).rank;
    if (rank > best_rank) {
      best = i;
      best_rank = rank;
    }
  }
  return best;
}

void LogChoice(const KpLoadedModule& module, const Function& function, KpDLDevice device, uint32_t chosen) {
  if (!Logs(KP_LOG_DEBUG)) return;
  std::string line = std::string(function.module_name) + "." + function.name + " on " +
                     kp_device_type_name(device.device_type) + ":" + std::to_string(device.device_id) + ": ";
  if (chosen == kNoVariant) line += "no variant runs there";
  for (uint32_t i = 0; i < function.variants.size(); ++i) {
    const Variant& variant = function.variants[i];
    const char* target = variant.info().target;
    if (i == chosen) {
      line += std::string("runs ") + (target ? target : "the baseline") + " of " + variant.part->path;
    } else {
      const TargetMatch match = Suits(module, function, variant, device);
      line += std::string("; not ") + (target ? target : "the baseline") + " (" +
              (match.rank >= 0 ? "also runs here, but a more specific version exists" : match.reason) + ")";
    }
  }
  Log(KP_LOG_DEBUG, line);
}

}  // namespace kernpack::host
