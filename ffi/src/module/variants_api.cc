// The C API's view of a function's variants.
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/guard.h"
#include "check/entry.h"
#include "check/mode.h"
#include "module/loaded_module.h"

using namespace kernpack::host;

namespace {

template <class Visit>
void ForEachVariant(const Function& function, Visit&& visit) {
  const KpLoadedModule& module = *function.module;
  for (uint32_t i = function.first_variant; i != NameIndex::kNone; i = module.variants[i].next)
    visit(i, module.variants[i]);
}

int RaiseNoVariant(const Function& function, KpDLDevice device) {
  std::string list;
  ForEachVariant(function, [&](uint32_t, const Variant& variant) {
    list += list.empty() ? "" : "; ";
    if (variant.info().target) list += std::string(variant.info().target) + ": ";
    list += Suits(*function.module, function, variant, device).reason;
  });
  return kp_raise("RuntimeError",
                  "%s: no variant runs on %s:%d (%s); move the tensors, or install a build for that device",
                  function.name, kp_device_type_name(device.device_type), device.device_id, list.c_str());
}

int Resolve(const Function& function, KpDLDevice device, KpSafeCall* call, void** self) {
  const KpLoadedModule& module = *function.module;
  if (device.device_type == KP_DEVICE_CPU && function.cpu_call) {
    *call = function.cpu_call;
    *self = function.cpu_self;
    return 0;
  }
  const auto key = std::make_pair(&function, std::make_pair(device.device_type, device.device_id));
  uint32_t chosen = NameIndex::kNone;
  {
    const std::lock_guard lock(ModulesMutex());
    const auto found = module.chosen.find(key);
    if (found != module.chosen.end()) chosen = found->second;
  }
  if (chosen == NameIndex::kNone) {
    chosen = ChooseVariant(module, function, device);
    if (chosen == NameIndex::kNone) return RaiseNoVariant(function, device);
    const std::lock_guard lock(ModulesMutex());
    module.chosen.emplace(key, chosen);
  }
  *call = module.variants[chosen].definition->call;
  *self = module.variants[chosen].self;
  return 0;
}

int List(const Function& function, KpAny* out) {
  const KpDLDevice cpu{KP_DEVICE_CPU, 0};
  const uint32_t chosen = ChooseVariant(*function.module, function, cpu);
  nlohmann::json list = nlohmann::json::array();
  ForEachVariant(function, [&](uint32_t number, const Variant& variant) {
    nlohmann::json item;
    const char* target = variant.info().target;
    item["target"] = target ? nlohmann::json(target) : nlohmann::json(nullptr);
    item["module_path"] = variant.path;
    item["chosen"] = number == chosen;
    item["reason"] = Suits(*function.module, function, variant, cpu).reason;
    list.push_back(std::move(item));
  });
  // Paths are bytes: what is no UTF-8 becomes a replacement character.
  return kp_string_new(Bytes(list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)), out);
}

}  // namespace

extern "C" int kp_function_resolve(const KpLoadedFunction* function, KpDLDevice device, KpSafeCall* call, void** self) {
  return Guard("kp_function_resolve", [&] {
    if (Resolve(*Internal(function), device, call, self) != 0) return -1;
    if (check::Checking()) check::StandIn(function, call, self);
    return 0;
  });
}

extern "C" int kp_function_variants(const KpLoadedFunction* function, KpAny* out) {
  return Guard("kp_function_variants", [&] { return List(*Internal(function), out); });
}
