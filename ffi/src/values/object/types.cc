// Run-time indices of object types, and the names of all types.
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/fork.h"
#include "base/guard.h"
#include "base/intern.h"
#include "base/leaked.h"
#include "base/services.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

struct Types {
  ForkMutex mutex{LockRank::kRegistry};
  std::unordered_map<std::string_view, int32_t> indices;  // keys are interned
  std::vector<const char*> names;                         // of index KP_TYPE_DYNAMIC_OURS + i
};

constexpr const char* kPlainNames[] = {"None",   "int", "bool",  "float",      "void*", "dtype", "Device",
                                       "Tensor", "str", "bytes", "rvalue ref", "str",   "bytes"};
constexpr const char* kObjectNames[] = {"Object", "str", "bytes",  "Error",  "Function", "Shape", "Tensor",
                                        "Array",  "Map", "Module", "object", "List",     "Dict",  "VisitInterrupt",
                                        "int"};

}  // namespace

const char* RegisteredTypeName(int32_t type_index) noexcept {
  if (type_index < KP_TYPE_DYNAMIC_OURS) return nullptr;
  auto& types = Leaked<Types>();
  std::lock_guard lock(types.mutex);
  const auto at = static_cast<size_t>(type_index - KP_TYPE_DYNAMIC_OURS);
  return at < types.names.size() ? types.names[at] : nullptr;
}

}  // namespace kernpack::host

using namespace kernpack::host;

const char* kp_type_name(int32_t type_index) {
  if (type_index >= KP_TYPE_NONE && type_index <= KP_TYPE_SMALL_BYTES) return kPlainNames[type_index];
  if (type_index >= KP_TYPE_STATIC_OBJECT_BEGIN && type_index < KP_TYPE_STATIC_OBJECT_END) {
    return kObjectNames[type_index - KP_TYPE_STATIC_OBJECT_BEGIN];
  }
  if (const char* name = RegisteredTypeName(type_index)) return name;
  return type_index >= KP_TYPE_DYNAMIC ? "foreign object" : "unknown type";
}

namespace kernpack::host::service {

int type_index(const KpHost*, KpBytes type_key, int32_t* out) noexcept {
  return Guard("type_index", [&] {
    if (type_key.size == 0)
      return kp_raise("ValueError", "type_index: the type key is empty; expected \"my_pkg.Type\"");
    const char* name = Intern(View(type_key));
    auto& types = Leaked<Types>();
    std::lock_guard lock(types.mutex);
    const auto next = static_cast<int32_t>(KP_TYPE_DYNAMIC_OURS + types.names.size());
    types.names.reserve(types.names.size() + 1);
    const auto [place, added] = types.indices.try_emplace(std::string_view(name, type_key.size), next);
    if (added) types.names.push_back(name);
    *out = place->second;
    return 0;
  });
}

}  // namespace kernpack::host::service
