// Tables that an embedder offers to modules by name and version.
#include <map>
#include <mutex>
#include <string>

#include <kernpack/host/device.h>
#include <kernpack/host/modules.h>

#include "shared/bytes.h"
#include "shared/package_files.h"
#include "base/fork.h"
#include "base/guard.h"
#include "base/leaked.h"
#include "base/loader/needs.h"
#include "devices/names.h"
#include "values/error/backtrace.h"
#include "base/services.h"
#include "devices/target/match_device.h"

namespace kernpack::host {
namespace {

// The one that is always there.
constexpr struct {
  uint32_t version;
  KpDevices table;
} kDevices{1,
           {sizeof(KpDevices), 0, kp_device_api, kp_device_count, kp_device_get_attr, kp_device_get_property,
            kp_backend_register, kp_stream_get, kp_stream_set, kp_workspace_alloc, kp_workspace_free, kp_tensor_alloc,
            kp_copy}};

constexpr KpModules kModules{sizeof(KpModules),     0,
                             kp_module_adopt,       kp_module_name,
                             kp_module_version,     kp_module_function_count,
                             kp_module_function_at, kp_function_find,
                             kp_function_resolve,   kp_function_variants,
                             kp_signature_text,     kp_call};

int FindPackageFile(KpBytes below, KpAny* out) {
  return Guard("kernpack.package_files", [&] {
    *out = kp_none();
    const std::string folder = FolderWithFile(std::string(View(below)));
    return folder.empty() ? 0 : kp_string_new(Bytes(folder), out);
  });
}

constexpr KpPackageFiles kPackageFiles{sizeof(KpPackageFiles), 0, FindPackageFile};

struct Extensions {
  ForkMutex mutex{LockRank::kRegistry};
  // The host's own extensions exist from the start.
  std::map<std::pair<std::string, uint32_t>, const void*> tables{{{"kernpack.target", 1}, &kTargetApi},
                                                                 {{KP_MODULES_EXTENSION, 1}, &kModules},
                                                                 {{KP_PACKAGE_FILES_EXTENSION, 1}, &kPackageFiles}};
};

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_extension_register(KpBytes name, uint32_t version, const void* table) {
  return Guard("kp_extension_register", [&] {
    if (name.size == 0 || table == nullptr) {
      return kp_raise("ValueError", "kp_extension_register: expected a name and a table, got %s",
                      name.size == 0 ? "an empty name" : "a NULL table");
    }
    if (View(name) == KP_PROFILER_EXTENSION) {
      return kp_raise("ValueError",
                      "kp_extension_register: '" KP_PROFILER_EXTENSION
                      "' is reserved for a later ABI, this is %d.%d; pip install -U kernpack",
                      KP_ABI_MAJOR, KP_ABI_MINOR);
    }
    auto& extensions = Leaked<Extensions>();
    std::lock_guard lock(extensions.mutex);
    const auto [place, added] = extensions.tables.try_emplace({std::string(View(name)), version}, table);
    if (!added && place->second != table) {
      return kp_raise("ValueError", "kp_extension_register: '%s' version %u is registered already with another table",
                      place->first.first.c_str(), version);
    }
    return 0;
  });
}

namespace kernpack::host::service {

int get_extension(const KpHost*, KpBytes name, uint32_t version, const void** out) noexcept {
  return Guard("get_extension", [&] {
    *out = nullptr;
    if (View(name).starts_with(kDeviceApiPrefix)) return DeviceApiExtension(View(name), version, out);
    if (View(name) == KP_DEVICES_EXTENSION && version == kDevices.version) {
      *out = &kDevices.table;
      return 0;
    }
    if (View(name) == KP_BACKTRACE_EXTENSION && version == 1) {
      *out = BacktraceExtension();
      return 0;
    }
    auto& extensions = Leaked<Extensions>();
    std::lock_guard lock(extensions.mutex);
    const auto place = extensions.tables.find({std::string(View(name)), version});
    if (place != extensions.tables.end()) *out = place->second;
    return 0;
  });
}

}  // namespace kernpack::host::service
