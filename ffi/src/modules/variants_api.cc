// The C API's view of a function's variants.
#include <mutex>

#include <nlohmann/json.hpp>

#include "shared/bytes.h"
#include "base/guard.h"
#include "base/call_flags.h"
#include "devices/observers.h"
#include "modules/loaded_module.h"

using namespace kernpack::host;

namespace {

int RaiseNoVariant(const Function& function, KpDLDevice device) {
  std::string list;
  for (const Variant& variant : function.variants) {
    list += list.empty() ? "" : "; ";
    if (variant.info().target) list += std::string(variant.info().target) + ": ";
    list += Suits(*function.module, function, variant, device).reason;
  }
  return kp_raise("RuntimeError",
                  "%s: no variant runs on %s:%d (%s); move the tensors, or install a build for that device",
                  function.name, kp_device_type_name(device.device_type), device.device_id, list.c_str());
}

int Resolve(const Function& function, KpDLDevice device, KpSafeCall* call, void** self) {
  if (device.device_type == KP_DEVICE_CPU && function.cpu_call) {
    *call = function.cpu_call;
    *self = function.cpu_self;
    return 0;
  }
  const auto key = std::make_pair(device.device_type, device.device_id);
  uint32_t chosen = kNoVariant;
  {
    const std::lock_guard lock(ModulesMutex());
    const auto found = function.chosen.find(key);
    if (found != function.chosen.end()) chosen = found->second;
  }
  if (chosen == kNoVariant) {
    chosen = ChooseVariant(*function.module, function, device);
    LogChoice(*function.module, function, device, chosen);
    if (chosen == kNoVariant) return RaiseNoVariant(function, device);
    const std::lock_guard lock(ModulesMutex());
    function.chosen.emplace(key, chosen);
  }
  *call = function.variants[chosen].definition->call;
  *self = function.variants[chosen].self;
  return 0;
}

int List(const Function& function, KpAny* out) {
  const KpDLDevice cpu{KP_DEVICE_CPU, 0};
  const uint32_t chosen = ChooseVariant(*function.module, function, cpu);
  nlohmann::json list = nlohmann::json::array();
  for (uint32_t i = 0; i < function.variants.size(); ++i) {
    const Variant& variant = function.variants[i];
    nlohmann::json item;
    const char* target = variant.info().target;
    item["target"] = target ? nlohmann::json(target) : nlohmann::json(nullptr);
    item["module_path"] = variant.part->path;
    item["chosen"] = i == chosen;
    item["reason"] = Reason(*function.module, function, i, cpu, chosen);
    list.push_back(std::move(item));
  }
  // Paths are bytes: bytes that aren't UTF-8 become a replacement character.
  return kp_string_new(Bytes(list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)), out);
}

}  // namespace

extern "C" int kp_function_resolve(const KpLoadedFunction* function, KpDLDevice device, KpSafeCall* call, void** self) {
  return Guard("kp_function_resolve", [&] {
    if (Resolve(*Internal(function), device, call, self) != 0) return -1;
    if (Watched()) kObservers.resolved(function, call, self);
    return 0;
  });
}

extern "C" int kp_function_variants(const KpLoadedFunction* function, KpAny* out) {
  return Guard("kp_function_variants", [&] { return List(*Internal(function), out); });
}
