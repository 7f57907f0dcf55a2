// The C API's view of a loaded module.
#include <nlohmann/json.hpp>

#include "shared/bytes.h"
#include "base/guard.h"
#include "base/loader/needs.h"
#include "modules/library.h"
#include "modules/function_index.h"
#include "modules/registry.h"

using namespace kernpack::host;

namespace {

// NULL with an error raised beyond the last, or where something is wrong with the module's tables.
const char* NameInOrder(const KpLoadedModule& module, const char* who, int32_t at) {
  const FunctionIndex* index = GetIndex(module);
  if (index == nullptr) return nullptr;
  if (at >= 0 && static_cast<size_t>(at) < index->count()) return index->NameInOrder(static_cast<size_t>(at));
  kp_raise("IndexError", "%s: expected an index below the module's %zu functions, got %d", who, index->count(), at);
  return nullptr;
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

int GetLinks(const KpLoadedModule& module, std::vector<FunctionIndex::Link> FunctionIndex::* which, KpAny* out) {
  const FunctionIndex* index = GetIndex(module);
  if (index == nullptr) return -1;
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [forward, derived] : index->*which) list.push_back({forward, derived});
  return kp_string_new(Bytes(list.dump()), out);
}

// The result of a C function that returns a number or pointer; `none` if `body` throws.
template <class Result, class Body>
Result Guarded(const char* who, Result none, Body&& body) {
  Guard(who, [&] {
    none = body();
    return 0;
  });
  return none;
}

}  // namespace

extern "C" {

const char* kp_module_name(const KpLoadedModule* module) { return module->name.c_str(); }
const char* kp_module_version(const KpLoadedModule* module) { return module->version.c_str(); }
const char* kp_module_sdk_version(const KpLoadedModule* module) { return module->sdk_version.c_str(); }
const char* kp_module_path(const KpLoadedModule* module) { return module->path.c_str(); }
const char* kp_module_digest(const KpLoadedModule* module) { return module->digest.c_str(); }
int32_t kp_module_function_count(const KpLoadedModule* module) {
  return Guarded("kp_module_function_count", int32_t{0}, [&] {
    const FunctionIndex* index = GetIndex(*module);
    return index ? static_cast<int32_t>(index->count()) : 0;
  });
}

int32_t kp_module_signature_count(const KpLoadedModule* module) {
  return Guarded("kp_module_signature_count", int32_t{0}, [&] {
    const FunctionIndex* index = GetIndex(*module);
    return index ? static_cast<int32_t>(index->CountSignatures()) : 0;
  });
}

const char* kp_module_function_name(const KpLoadedModule* module, int32_t index) {
  return Guarded<const char*>("kp_module_function_name", nullptr,
                              [&] { return NameInOrder(*module, "kp_module_function_name", index); });
}

const KpLoadedFunction* kp_module_function_at(const KpLoadedModule* module, int32_t index) {
  return Guarded<const KpLoadedFunction*>("kp_module_function_at", nullptr, [&]() -> const KpLoadedFunction* {
    const char* name = NameInOrder(*module, "kp_module_function_at", index);
    return name ? FindFunction(*module, name) : nullptr;
  });
}

const KpLoadedFunction* kp_module_function(const KpLoadedModule* module, KpBytes name) {
  return Guarded<const KpLoadedFunction*>("kp_module_function", nullptr,
                                          [&] { return FindFunction(*module, View(name)); });
}

int kp_function_find(KpBytes qualified_name, const KpLoadedFunction** out) {
  *out = nullptr;
  return Guard("kp_function_find", [&] { return Find(View(qualified_name), out); });
}

int kp_module_gradients(const KpLoadedModule* module, KpAny* out) {
  return Guard("kp_module_gradients", [&] { return GetLinks(*module, &FunctionIndex::gradients, out); });
}

int kp_module_warm(const char* path, KpAny* out) {
  return Guard("kp_module_warm", [&] {
    std::string verified;
    if (!path || !*path) return kp_raise("ValueError", "kp_module_warm: the path is empty");
    return WarmFile(path, &verified) != 0 ? -1 : kp_string_new(Bytes(verified), out);
  });
}
int kp_library_folders(const char* const* folders, int32_t count) {
  return Guard("kp_library_folders", [&] {
    if (count < 0 || (count != 0 && folders == nullptr)) {
      return kp_raise("ValueError", "kp_library_folders: expected folders and how many they are, got %d of %s", count,
                      folders ? "them" : "NULL");
    }
    std::vector<std::string> kept;
    for (int32_t i = 0; i < count; ++i) {
      if (folders[i] && *folders[i] == '/') kept.emplace_back(folders[i]);
    }
    SetLibraryFolders(std::move(kept));
    return 0;
  });
}
int kp_module_files(KpAny* out) {
  return Guard("kp_module_files", [&] { return kp_string_new(Bytes(DescribeLibraries()), out); });
}

int kp_module_jvps(const KpLoadedModule* module, KpAny* out) {
  return Guard("kp_module_jvps", [&] { return GetLinks(*module, &FunctionIndex::jvps, out); });
}

}  // extern "C"
