// Choosing the variant of a function for a device.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "modules/function_index.h"
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

std::string TargetText(const Variant& variant) {
  const char* target = variant.info().target;
  return target != nullptr ? target : "the baseline";
}

}  // namespace

TargetMatch Suits(const KpLoadedModule& module, const Function& function, const Variant& variant, KpDLDevice device) {
  if (module.any_device && !function.program) return {0, "it checks its device itself"};
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

std::string Reason(const KpLoadedModule& module, const Function& function, uint32_t variant, KpDLDevice device,
                   uint32_t chosen) {
  const TargetMatch match = Suits(module, function, function.variants[variant], device);
  if (variant == chosen || chosen == kNoVariant || match.rank < 0) return match.reason;
  const bool equal = match.rank == Suits(module, function, function.variants[chosen], device).rank;
  return "also runs here, but " + TargetText(function.variants[chosen]) +
         (equal ? " is as specific and comes first" : " is more specific");
}

// "llvm -mcpu=x86-64-v3 (not llvm -mcpu=x86-64-v4: this processor is x86-64-v3 and lacks avx512f)". The chosen one is the most specific
// that runs, so that those which run too go without saying.
std::string DescribeChoice(const KpLoadedModule& module, const Function& function, KpDLDevice device, uint32_t chosen) {
  std::string others;
  for (uint32_t i = 0; i < function.variants.size(); ++i) {
    const TargetMatch match = Suits(module, function, function.variants[i], device);
    if (match.rank >= 0) continue;
    others += (others.empty() ? " (not " : "; not ") + TargetText(function.variants[i]) + ": " + match.reason;
  }
  if (!others.empty()) others += ")";
  if (chosen == kNoVariant) return "nothing" + others;
  const Variant& runs = function.variants[chosen];
  return TargetText(runs) + (module.parts.size() > 1 ? std::string(" of ") + runs.part->path : "") + others;
}

void LogChoice(const KpLoadedModule& module, const Function& function, KpDLDevice device, uint32_t chosen) {
  if (!Logs(KP_LOG_DEBUG)) return;
  Log(KP_LOG_DEBUG, std::string(function.module_name) + "." + function.name + " on " +
                        kp_device_type_name(device.device_type) + ":" + std::to_string(device.device_id) + " runs " +
                        DescribeChoice(module, function, device, chosen));
}

std::string DescribeChoices(const KpLoadedModule& module, KpDLDevice device) {
  const FunctionIndex* index = GetIndex(module);
  if (index == nullptr) {
    kp_error_clear();
    return "";
  }
  std::vector<std::pair<std::string, size_t>> groups;  // functions of which the same is to be said
  for (size_t i = 0; i < index->count(); ++i) {
    const Function* function = FindFunction(module, index->NameInOrder(i));
    if (function == nullptr) {
      kp_error_clear();
      continue;  // its error is raised when somebody asks for it
    }
    const std::string text = DescribeChoice(module, *function, device, ChooseVariant(module, *function, device));
    const auto found =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == text; });
    if (found == groups.end()) {
      groups.emplace_back(text, 1);
    } else {
      ++found->second;
    }
  }
  std::string line;
  for (const auto& [text, count] : groups) {
    line += (line.empty() ? "" : "; ") + std::to_string(count) + (count == 1 ? " function runs " : " functions run ") +
            text;
  }
  return line;
}

}  // namespace kernpack::host
