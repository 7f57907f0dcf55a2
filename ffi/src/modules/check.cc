#include "modules/check.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include <kernpack/host/host.h>
#include "shared/target_kinds.h"
#include "shared/target_text.h"

#include "base/abi_version.h"

namespace kernpack::host {
namespace {

constexpr const char* kUpgrade = "run `pip install -U kernpack`";
constexpr uint32_t kKnownFlags = KP_FUNCTION_TAKES_CONTEXT;

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsModuleName(std::string_view name) {
  return !name.empty() && (IsLower(name[0]) || IsUpper(name[0]) || name[0] == '_') &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return IsLower(c) || IsUpper(c) || IsDigit(c) || c == '_' || c == '.'; });
}

// A module may have thousands of these.
constexpr auto kInFunctionName = [] {
  std::array<bool, 256> in{};
  for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyz0123456789_"))
    in[static_cast<unsigned char>(c)] = true;
  return in;
}();

bool IsFunctionName(const char* name) {
  const char* c = name;
  while (kInFunctionName[static_cast<unsigned char>(*c)]) ++c;
  return *c == 0 && c != name && !IsDigit(*name);
}

bool IsAttributeKey(std::string_view key) {
  return !key.empty() && (IsLower(key[0]) || key[0] == '_') &&
         std::all_of(key.begin(), key.end(), [](char c) { return IsLower(c) || IsDigit(c) || c == '_' || c == '.'; });
}

int RefuseVersion(const KpModule* module, const char* where) {
  if (module->min_host_abi > KP_ABI_VERSION) {
    return kp_raise(
        "ImportError", "kernpack.load: '%s' needs a host of ABI %s or newer, this is kernpack %s with ABI %s; %s",
        where, VersionText(module->min_host_abi).c_str(), kp_version(), VersionText(KP_ABI_VERSION).c_str(), kUpgrade);
  }
  if (module->abi_version >> 16 != KP_ABI_MAJOR) {
    const std::string text = OtherMajorText(
        "was built for ABI " + VersionText(module->abi_version), "ABI", KP_ABI_VERSION, module->abi_version >> 16,
        "rebuild the module with kernpack-sdk " + std::to_string(KP_ABI_MAJOR) + ".x");
    return kp_raise("ImportError", "kernpack.load: '%s' %s", where, text.c_str());
  }
  return 0;
}

int RefuseField(const char* where, const char* field) {
  return kp_raise(
      "ImportError",
      "kernpack.load: '%s' sets the reserved field %s, which must be zero in ABI %s; %s, or rebuild the module", where,
      field, VersionText(KP_ABI_VERSION).c_str(), kUpgrade);
}

bool AllZero(const void* const* begin, const void* const* end) {
  return std::all_of(begin, end, [](const void* spare) { return spare == nullptr; });
}

int CheckInfo(const char* name, const KpFunctionInfo& info, const char* where) {
  if (info.struct_size < KP_FUNCTION_INFO_SIZE_V1) {
    return kp_raise("ImportError",
                    "kernpack.load: '%s': %s: expected a KpFunctionInfo of at least %u bytes, got %u; set struct_size "
                    "to sizeof(KpFunctionInfo)",
                    where, name, KP_FUNCTION_INFO_SIZE_V1, info.struct_size);
  }
  if ((info.flags & ~kKnownFlags) != 0) return RefuseField(where, (std::string(name) + ".flags").c_str());
  if (info.kind != KP_DEF_FUNCTION && info.flags != 0) {
    return RefuseField(where, (std::string(name) + ".flags of a link").c_str());
  }
  if (info.context && !(info.flags & KP_FUNCTION_TAKES_CONTEXT)) {
    return kp_raise(
        "ImportError",
        "kernpack.load: '%s': %s has a context, which is never passed to it; set KP_FUNCTION_TAKES_CONTEXT in "
        "KpFunctionInfo.flags",
        where, name);
  }
  if (!AllZero(std::begin(info.spare), std::end(info.spare))) {
    return RefuseField(where, (std::string(name) + ".spare").c_str());
  }
  if (info.kind == KP_DEF_GRADIENT || info.kind == KP_DEF_JVP) {
    if (info.target && IsFunctionName(info.target)) return 0;
    return info.kind == KP_DEF_GRADIENT
               ? kp_raise("ImportError", "kernpack.load: '%s': the gradient of %s names no backward function", where,
                          name)
               : kp_raise("ImportError", "kernpack.load: '%s': the jvp of %s names no function", where, name);
  }
  if (info.kind == KP_DEF_FUNCTION) return 0;
  return kp_raise("ImportError", "kernpack.load: '%s': %s is of kind %u, which ABI %s does not have; %s", where, name,
                  info.kind, VersionText(KP_ABI_VERSION).c_str(), kUpgrade);
}

}  // namespace

int CheckModule(const KpModule* module, const char* where) {
  if (!module) {
    return kp_raise("ImportError",
                    "kernpack.load: '%s': " KP_MODULE_QUERY_SYMBOL
                    " returned NULL, expected the module's table; declare it with "
                    "KP_MODULE",
                    where);
  }
  if (RefuseVersion(module, where) != 0) return -1;
  if (module->struct_size < KP_MODULE_SIZE_V1) {
    return kp_raise("ImportError",
                    "kernpack.load: '%s': expected a module table of at least %u bytes, got %u; set struct_size to "
                    "sizeof(KpModule)",
                    where, KP_MODULE_SIZE_V1, module->struct_size);
  }
  if (module->reserved != 0) return RefuseField(where, "KpModule.reserved");
  if (!AllZero(std::begin(module->spare), std::end(module->spare) - 1)) return RefuseField(where, "KpModule.spare");
  if (!module->name || !IsModuleName(module->name)) {
    return kp_raise("ImportError",
                    "kernpack.load: '%s': expected a module name of letters, digits, '_' and '.', got '%.100s'", where,
                    module->name ? module->name : "(null)");
  }
  if (!module->version || !module->sdk_version) {
    return kp_raise("ImportError", "kernpack.load: '%s': module %s has no %s", where, module->name,
                    module->version ? "sdk_version" : "version");
  }
  if (module->functions_end < module->functions || (!module->functions && module->functions_end)) {
    return kp_raise("ImportError", "kernpack.load: '%s': module %s has a function table that ends before it begins",
                    where, module->name);
  }
  const auto bytes =
      reinterpret_cast<uintptr_t>(module->functions_end) - reinterpret_cast<uintptr_t>(module->functions);
  if (bytes % sizeof(KpFunctionDef) != 0) {
    return kp_raise(
        "ImportError",
        "kernpack.load: '%s': module %s has a function table of %zu bytes, expected a multiple of %zu; give "
        "the array of KpFunctionDef and its end",
        where, module->name, static_cast<size_t>(bytes), sizeof(KpFunctionDef));
  }
  return 0;
}

int CheckAttributes(const char* text, const char* name) {
  std::set<std::string_view> keys;
  for (std::string_view rest = text ? text : ""; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const std::string_view key = line.substr(0, line.find('='));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (key.size() == line.size() || !IsAttributeKey(key)) {
      return kp_raise("ValueError",
                      "%s: attributes: expected lines of key=value with a key of [a-z_][a-z0-9_.]*, got '%.*s'", name,
                      static_cast<int>(std::min<size_t>(line.size(), 100)), line.data());
    }
    if (!keys.insert(key).second) {
      return kp_raise("ValueError", "%s: attributes: '%.*s' is given twice; keep one", name,
                      static_cast<int>(std::min<size_t>(key.size(), 100)), key.data());
    }
  }
  return 0;
}

int CheckEntry(const Entry& entry) {
  if (entry.part->table == nullptr) return 0;  // made by this host, of names that the peer allows
  const KpFunctionDef& definition = *entry.definition;
  const char* where = entry.part->path;
  if (!definition.name || !IsFunctionName(definition.name)) {
    return kp_raise("ImportError",
                    "kernpack.load: '%s': expected a function name of lower-case letters, digits and '_', got '%.100s'",
                    where, definition.name ? definition.name : "(null)");
  }
  const char* name = definition.name;
  if (const KpFunctionInfo* info = definition.info) {
    if (CheckInfo(name, *info, where) != 0) return -1;
    if (info->kind != KP_DEF_FUNCTION) return 0;
  }
  if (!definition.call) {
    return kp_raise("ImportError", "kernpack.load: '%s': %s has no code to call (call is NULL)", where, name);
  }
  return 0;
}

namespace {

bool SameText(const char* a, const char* b) { return a == b || (a && b && std::strcmp(a, b) == 0); }

int CheckAgainst(const Entry& earlier, const Entry& entry) {
  const char* signature = earlier.info().signature;
  const KpFunctionInfo& info = entry.info();
  if (!SameText(signature, info.signature)) {
    return kp_raise("ValueError",
                    "kernpack.load: '%s': %s has another signature than its variant in '%s': '%s' against '%s'; "
                    "variants of one function share one signature",
                    entry.part->path, entry.definition->name, earlier.part->path,
                    info.signature ? info.signature : "(none)", signature ? signature : "(none)");
  }
  if (!SameText(earlier.info().target, info.target)) return 0;
  return kp_raise("ValueError",
                  "kernpack.load: %s is exported twice for %s, by '%s' and by '%s'; give one of them another name or "
                  "target",
                  entry.definition->name, info.target ? info.target : "the baseline", earlier.part->path,
                  entry.part->path);
}

int CheckBaseline(const std::vector<Entry>& entries) {
  const Entry* for_cpu = nullptr;
  for (const Entry& entry : entries) {
    const char* target = entry.info().target;
    if (!target) return 0;
    TargetWords words;
    static_cast<void>(ReadTargetWords(target, &words));  // its kind can be read, whatever its options are
    if (IsCpuKind(words.kind)) for_cpu = &entry;
  }
  if (!for_cpu) return 0;
  const char* name = for_cpu->definition->name;
  return kp_raise("ValueError",
                  "kernpack.load: '%s': %s has a CPU variant for '%s' but no baseline; add KP_EXPORT(%s, ...) without "
                  "a target, which runs where no variant does",
                  for_cpu->part->path, name, for_cpu->info().target, name);
}

}  // namespace

int CheckVariants(const std::vector<Entry>& entries) {
  for (size_t i = 1; i < entries.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (CheckAgainst(entries[j], entries[i]) != 0) return -1;
    }
  }
  return CheckBaseline(entries);
}

}  // namespace kernpack::host
