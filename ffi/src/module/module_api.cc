// The C API's view of a loaded module.
#include <algorithm>
#include <cstring>
#include <numeric>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/guard.h"
#include "loader/library.h"
#include "module/registry.h"

using namespace kernpack::host;

namespace {

uint32_t NumberInNameOrder(const KpLoadedModule& module, int32_t index) {
  const std::lock_guard lock(ModulesMutex());
  if (module.by_name.empty()) {
    module.by_name.resize(module.first_variants.size());
    std::iota(module.by_name.begin(), module.by_name.end(), 0U);
    std::sort(module.by_name.begin(), module.by_name.end(),
              [&](uint32_t a, uint32_t b) { return std::strcmp(module.NameOf(a), module.NameOf(b)) < 0; });
  }
  return module.by_name[static_cast<size_t>(index)];
}

int CheckIndex(const KpLoadedModule& module, const char* function, int32_t index) {
  const size_t count = module.first_variants.size();
  if (index >= 0 && static_cast<size_t>(index) < count) return 0;
  return kp_raise("IndexError", "%s: expected an index below the module's %zu functions, got %d", function, count,
                  index);
}

int Find(std::string_view qualified, const KpLoadedFunction** out) {
  const size_t slash = qualified.rfind('/');
  const size_t at = qualified.rfind('@', slash);
  if (slash == std::string_view::npos || at == std::string_view::npos) {
    return kp_raise("ValueError", "kp_function_find: expected '<module>@<digest>/<function>', got '%.*s'",
                    PrintLength(qualified), qualified.data());
  }
  const std::string name(qualified.substr(0, at));
  const std::string digest(qualified.substr(at + 1, slash - at - 1));
  const std::string function(qualified.substr(slash + 1));
  const KpLoadedModule* module = FindModule(name, digest);
  if (digest.starts_with('v') && CountModulesOfMajor(name, std::string_view(digest).substr(1), &module) > 1) {
    return kp_raise(
        "ImportError",
        "%.200s of module %.200s, any version %.64s, is needed, and several such versions are loaded in this "
        "process; load only one of them",
        function.c_str(), name.c_str(), digest.c_str() + 1);
  }
  if (!module) {
    return kp_raise(
        "ImportError",
        "%.200s of module %.200s with %s %.64s is needed, and that module is not loaded in this process; call "
        "kernpack.load(\"%.200s\") first, with the same version installed",
        function.c_str(), name.c_str(), digest.starts_with('v') ? "version" : "digest", digest.c_str(), name.c_str());
  }
  kp_error_clear();
  if ((*out = kp_module_function(module, Bytes(function)))) return 0;
  if (kp_error_pending()) return -1;
  return kp_raise("AttributeError", "module %s has no function %.200s", module->name.c_str(), function.c_str());
}

int PairsOf(const std::vector<std::pair<const char*, const char*>>& pairs, KpAny* out) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [forward, derived] : pairs) list.push_back({forward, derived});
  return kp_string_new(Bytes(list.dump()), out);
}

}  // namespace

extern "C" {

const char* kp_module_name(const KpLoadedModule* module) { return module->name.c_str(); }
const char* kp_module_version(const KpLoadedModule* module) { return module->version.c_str(); }
const char* kp_module_sdk_version(const KpLoadedModule* module) { return module->sdk_version.c_str(); }
const char* kp_module_path(const KpLoadedModule* module) { return module->path.c_str(); }
const char* kp_module_digest(const KpLoadedModule* module) { return module->digest.c_str(); }
int32_t kp_module_function_count(const KpLoadedModule* module) {
  return static_cast<int32_t>(module->first_variants.size());
}

int32_t kp_module_signature_count(const KpLoadedModule* module) {
  return static_cast<int32_t>(
      std::count_if(module->first_variants.begin(), module->first_variants.end(),
                    [&](uint32_t i) { return module->variants[i].info().signature != nullptr; }));
}

const char* kp_module_function_name(const KpLoadedModule* module, int32_t index) {
  const char* name = nullptr;
  Guard("kp_module_function_name", [&] {
    if (CheckIndex(*module, "kp_module_function_name", index) != 0) return -1;
    name = module->NameOf(NumberInNameOrder(*module, index));
    return 0;
  });
  return name;
}

const KpLoadedFunction* kp_module_function_at(const KpLoadedModule* module, int32_t index) {
  const KpLoadedFunction* function = nullptr;
  Guard("kp_module_function_at", [&] {
    if (CheckIndex(*module, "kp_module_function_at", index) != 0) return -1;
    function = GetFunction(module, NumberInNameOrder(*module, index));
    return 0;
  });
  return function;
}

const KpLoadedFunction* kp_module_function(const KpLoadedModule* module, KpBytes name) {
  const KpLoadedFunction* function = nullptr;
  Guard("kp_module_function", [&] {
    const uint32_t number = FindFunction(*module, View(name));
    if (number != NameIndex::kNone) function = GetFunction(module, number);
    return 0;
  });
  return function;
}

int kp_function_find(KpBytes qualified_name, const KpLoadedFunction** out) {
  *out = nullptr;
  return Guard("kp_function_find", [&] { return Find(View(qualified_name), out); });
}

int kp_module_gradients(const KpLoadedModule* module, KpAny* out) {
  return Guard("kp_module_gradients", [&] { return PairsOf(module->gradients, out); });
}

int kp_module_files(KpAny* out) {
  return Guard("kp_module_files", [&] { return kp_string_new(Bytes(DescribeLibraries()), out); });
}

int kp_module_jvps(const KpLoadedModule* module, KpAny* out) {
  return Guard("kp_module_jvps", [&] { return PairsOf(module->jvps, out); });
}

}  // extern "C"
