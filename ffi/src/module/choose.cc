// Choosing the variant of a function for a device.
#include <memory>
#include <mutex>

#include "base/leaked.h"
#include "module/check.h"
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

// What the first variant that says anything says.
const char* Said(const KpLoadedModule& module, uint32_t first_variant, const char* KpFunctionInfo::* what) {
  for (uint32_t i = first_variant; i != NameIndex::kNone; i = module.variants[i].next) {
    if (const char* text = module.variants[i].info().*what) return text;
  }
  return nullptr;
}

std::unique_ptr<const Function> Make(const KpLoadedModule& module, uint32_t first_variant) {
  const KpFunctionDef& definition = *module.variants[first_variant].definition;
  const KpFunctionInfo& info = InfoOf(definition);
  auto function = std::make_unique<Function>();
  function->name = definition.name;
  function->module_name = module.name.c_str();
  function->module = &module;
  function->first_variant = first_variant;
  if (info.signature) {
    if (ContractOf(info, definition.name, module.variants[first_variant].abi, &function->signature) != 0)
      return nullptr;
    function->program = kp_signature_program(function->signature);
  }
  function->doc = Said(module, first_variant, &KpFunctionInfo::doc);
  function->cxx_types = info.cxx_types;
  function->attributes = Said(module, first_variant, &KpFunctionInfo::attributes);
  if (CheckAttributes(function->attributes, definition.name) != 0) return nullptr;
  const uint32_t chosen = ChooseVariant(module, *function, KpDLDevice{KP_DEVICE_CPU, 0});
  if (chosen != NameIndex::kNone) {
    function->cpu_call = module.variants[chosen].definition->call;
    function->cpu_self = module.variants[chosen].self;
  }
  return function;
}

}  // namespace

ForkMutex& ModulesMutex() {
  struct Holder {
    ForkMutex mutex{LockRank::kModules};
  };
  return Leaked<Holder>().mutex;
}

const Function* GetFunction(const KpLoadedModule* module, uint32_t number) {
  std::atomic<const Function*>& made = module->made[number];
  if (const Function* function = made.load(std::memory_order_acquire)) return function;
  const std::lock_guard lock(ModulesMutex());
  if (const Function* function = made.load(std::memory_order_relaxed)) return function;
  const Function* function = Make(*module, module->first_variants[number]).release();  // for ever
  made.store(function, std::memory_order_release);
  return function;
}

TargetMatch Suits(const KpLoadedModule& module, const Function& function, const Variant& variant, KpDLDevice device) {
  if (module.any_device) return {0, "it looks after its device itself"};
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
