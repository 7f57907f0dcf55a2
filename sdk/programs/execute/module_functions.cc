#include <kernpack/host/modules.h>
#include <kernpack/sdk/program/module_functions.h>
#include <kernpack/sdk/target.h>
#include <kernpack/signature/program.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "target/host.h"

namespace kernpack::sdk::program {
namespace {

// The host's loaded modules, reached through its table. ImportError where the host is too old to have them.
const KpModules& HostModules() {
  static const KpModules* const modules = [] {
    const void* table = nullptr;
    Check(Host()->get_extension(Host(), kp_bytes(KP_MODULES_EXTENSION), 1, &table));
    if (!table)
      KP_THROW(ImportError) << "this libkernpack lists no modules to the SDK; upgrade: pip install -U kernpack";
    return static_cast<const KpModules*>(table);
  }();
  return *modules;
}

// The device type of the baseline: the type in `with on "..."`, else the CPU.
int32_t BaselineDeviceType(const KpLoadedFunction& function) {
  const int32_t on = function.program ? signature::View{function.program}.OnDeviceType() : 0;
  return on != 0 ? on : static_cast<int32_t>(KP_DEVICE_CPU);
}

std::vector<int32_t> GetDeviceTypes(const KpLoadedFunction& function) {
  HostValue variants;
  Check(HostModules().function_variants(&function, variants.out()));
  std::vector<int32_t> types;
  for (const nlohmann::json& variant : nlohmann::json::parse(variants.str())) {
    const nlohmann::json& target = variant["target"];
    const int32_t type =
        target.is_null() ? BaselineDeviceType(function) : Target(target.get<std::string>()).device_type();
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return types;
}

}  // namespace

Function FunctionOf(const KpLoadedFunction& function) {
  Function entry;
  entry.name = std::string(function.module_name) + "." + function.name;
  if (function.signature) entry.signature = HostModules().signature_text(function.signature);
  const std::string version = HostModules().module_version(function.module);
  entry.qualified =
      std::string(function.module_name) + "@v" + version.substr(0, version.find('.')) + "/" + function.name;
  entry.device_types = GetDeviceTypes(function);
  entry.resolve = [&function](KpDLDevice device) {  // nothing is ever unloaded
    Callable callable;
    Check(HostModules().function_resolve(&function, device, &callable.call, &callable.self));
    return callable;
  };
  return entry;
}

void AddModule(FunctionTable* table, const KpLoadedModule* module) {
  for (int32_t i = 0; i < HostModules().module_function_count(module); ++i) {
    const KpLoadedFunction* function = HostModules().module_function_at(module, i);
    if (!function) Check(-1);
    table->Add(FunctionOf(*function));
  }
}

Function FunctionOf(std::string name, Any callee, std::string signature, std::vector<int32_t> device_types) {
  if (callee.type_index() != KP_TYPE_FUNCTION) {
    KP_THROW(TypeError) << "function '" << name.c_str() << "': expected a function, got "
                        << type_name(callee.type_index());
  }
  Function entry;
  entry.name = std::move(name);
  entry.signature = std::move(signature);
  entry.device_types = std::move(device_types);
  entry.resolve = [callee = std::move(callee)](KpDLDevice) {
    auto* object = reinterpret_cast<KpFunctionObject*>(callee.raw().v.v_obj);
    return Callable{object->call, object};
  };
  return entry;
}

}  // namespace kernpack::sdk::program
