// Choosing the variant of a function for a device.
#include <mutex>

#include "base/leaked.h"
#include "module/loaded_module.h"
#include "signature/signature.h"
#include "target/device_arch.h"
#include "target/target_match.h"

namespace kernpack::host {
namespace {

// The device type that a baseline runs on: what `with on "..."` says, else the CPU.
int32_t BaselineDeviceType(const Function& function) {
  const int32_t on = function.program ? signature::View{function.program}.OnDeviceType() : 0;
  return on != 0 ? on : static_cast<int32_t>(KP_DEVICE_CPU);
}

int Fill(const KpLoadedModule& module, Function& function) {
  const Description& described = function.description;
  if (described.signature) {
    if (SignatureFromProgram(described.program, described.program_words, described.signature, function.name,
                             &function.signature) != 0) {
      return -1;
    }
    function.program = kp_signature_program(function.signature);
  }
  function.doc = described.doc;
  function.cxx_types = described.cxx_types;
  const uint32_t chosen = ChooseVariant(module, function, KpDLDevice{KP_DEVICE_CPU, 0});
  if (chosen != NameIndex::kNone) {
    function.cpu_call = module.variants[chosen].call;
    function.cpu_self = module.variants[chosen].self;
  }
  return 0;
}

}  // namespace

ForkMutex& ModulesMutex() {
  struct Holder {
    ForkMutex mutex{LockRank::kModules};
  };
  return Leaked<Holder>().mutex;
}

const Function* Ready(const KpLoadedModule* module, uint32_t number) {
  Function& function = module->functions[number];
  if (function.ready.load(std::memory_order_acquire)) return &function;
  const std::lock_guard lock(ModulesMutex());
  if (!function.ready.load(std::memory_order_relaxed)) {
    if (Fill(*module, function) != 0) return nullptr;
    function.ready.store(true, std::memory_order_release);
  }
  return &function;
}

Suitability Suits(const KpLoadedModule& module, const Function& function, const Variant& variant, KpDLDevice device) {
  if (function.any_device) return {0, "it looks after its device itself"};
  if (variant.target) {
    const auto arch = device.device_type == KP_DEVICE_CPU ? std::nullopt : DeviceArch(device);
    TargetMatch match = MatchTarget(variant.target, device, module.cpu_level, arch ? arch->c_str() : nullptr);
    return {match.rank, std::move(match.reason)};
  }
  const int32_t type = BaselineDeviceType(function);
  if (type == device.device_type) return {0, std::string("baseline for ") + kp_device_type_name(type)};
  return {-1, std::string("the baseline is for ") + kp_device_type_name(type)};
}

uint32_t ChooseVariant(const KpLoadedModule& module, const Function& function, KpDLDevice device) {
  uint32_t best = NameIndex::kNone;
  int best_rank = -1;
  for (uint32_t i = function.first_variant; i != NameIndex::kNone; i = module.variants[i].next) {
    const int rank = Suits(module, function, module.variants[i], device).rank;
    if (rank > best_rank) {
      best = i;
      best_rank = rank;
    }
  }
  return best;
}

}  // namespace kernpack::host
