// Global functions by name.
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/fork.h"
#include "base/guard.h"
#include "base/leaked.h"
#include "devices/names.h"
#include "base/services.h"
#include "values/object/object.h"
#include "values/guests.h"
#include "modules/registry.h"

namespace kernpack::host {
namespace {

struct Globals {
  ForkMutex mutex{LockRank::kRegistry};
  std::map<std::string, KpObject*, std::less<>> functions;  // each holds one reference
};

int Set(std::string_view name, KpObject* function, bool replace) {
  if (name.empty()) return kp_raise("ValueError", "global_set: the name is empty");
  if (function == nullptr || function->type_index != KP_TYPE_FUNCTION) {
    return kp_raise("TypeError", "global_set: '%.*s': expected a Function, got %s", PrintLength(name), name.data(),
                    function ? kp_type_name(function->type_index) : "NULL");
  }
  auto& globals = Leaked<Globals>();
  KpObject* old = nullptr;
  {
    std::lock_guard lock(globals.mutex);
    auto [place, added] = globals.functions.try_emplace(std::string(name), function);
    if (!added && !replace) {
      return kp_raise("ValueError", "global_set: a function named '%.*s' exists already; pass replace to replace it",
                      PrintLength(name), name.data());
    }
    if (!added) old = std::exchange(place->second, function);
    kp_retain(function);
  }
  kp_release(old);  // its deleter may call back into the registry
  return 0;
}

}  // namespace

void DropGlobalFunctions() {
  auto& globals = Leaked<Globals>();
  decltype(globals.functions) dropped;
  {
    std::lock_guard lock(globals.mutex);
    dropped.swap(globals.functions);
  }
  for (auto& [name, function] : dropped) kp_release(function);
}

}  // namespace kernpack::host

using namespace kernpack::host;

int kp_global_names(KpAny* out) {
  return Guard("kp_global_names", [&] {
    auto& globals = Leaked<Globals>();
    std::vector<std::string> names;
    {
      std::lock_guard lock(globals.mutex);
      for (const auto& [name, function] : globals.functions) names.push_back(name);
    }
    return NewStringArray(names, out);
  });
}

int kp_global_remove(KpBytes name) {
  return Guard("kp_global_remove", [&] {
    auto& globals = Leaked<Globals>();
    KpObject* removed = nullptr;
    {
      std::lock_guard lock(globals.mutex);
      const auto place = globals.functions.find(View(name));
      if (place != globals.functions.end()) {
        removed = place->second;
        globals.functions.erase(place);
      }
    }
    if (removed == nullptr) {
      return kp_raise("ValueError", "kp_global_remove: no function named '%.*s'", PrintLength(View(name)),
                      View(name).data());
    }
    kp_release(removed);
    return 0;
  });
}

namespace kernpack::host::service {

int global_get(const KpHost*, KpBytes name, KpAny* out) noexcept {
  return Guard("global_get", [&] {
    *out = kp_none();
    auto& globals = Leaked<Globals>();
    {
      const std::lock_guard lock(globals.mutex);
      const auto place = globals.functions.find(View(name));
      if (place != globals.functions.end()) {
        kp_retain(place->second);
        SetObject(out, place->second);
        return 0;
      }
    }
    if (DeviceApiFunction(View(name), out) != 0) return -1;
    return out->type_index == KP_TYPE_NONE ? kGuests.global_function(name, out) : 0;
  });
}

int global_set(const KpHost*, KpBytes name, KpObject* function, int32_t replace) noexcept {
  return Guard("global_set", [&] { return Set(View(name), function, replace != 0); });
}

}  // namespace kernpack::host::service
