#include "devices/registry.h"

#include <cstring>
#include <mutex>

#include <kernpack/host/device.h>

#include "shared/bytes.h"
#include "base/fork.h"
#include "base/guard.h"
#include "base/leaked.h"
#include "base/abi_version.h"
#include "devices/cpu/cpu.h"
#include "devices/names.h"
#include "base/services.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

struct Registry {
  ForkMutex mutex{LockRank::kDevices};
  // Only ever added to; read without the lock.
  std::atomic<Backend*> backends[kMaxBackends] = {};
  std::atomic<int> count{0};
  std::vector<FailedPlugin> failed;

  Registry() { Add(CpuBackend(), KP_DEVICE_CPU, {}); }

  Backend* Add(const KpBackend* definition, int32_t type, std::string_view path) {
    const int number = count.load(std::memory_order_relaxed);
    auto* backend = new Backend();
    backend->definition = definition;
    backend->type = type;
    backend->path = path;
    backend->api.backend = definition;
    backend->api.type = type;
    backend->api.number = number;
    backends[number].store(backend, std::memory_order_release);
    count.store(number + 1, std::memory_order_release);
    return backend;
  }

  template <class Match>
  Backend* Find(Match match) {
    const int known = count.load(std::memory_order_acquire);
    for (int i = 0; i < known; ++i) {
      Backend* backend = backends[i].load(std::memory_order_acquire);
      if (match(*backend)) return backend;
    }
    return nullptr;
  }
};

bool IsIdentifier(const char* name) {
  if (name == nullptr || *name < 'a' || *name > 'z') return false;
  for (; *name != '\0'; ++name) {
    if ((*name < 'a' || *name > 'z') && (*name < '0' || *name > '9') && *name != '_') return false;
  }
  return true;
}

int Refuse(const KpBackend& backend, const char* why) {
  return kp_raise("ValueError", "kp_backend_register: backend '%s': %s",
                  IsIdentifier(backend.name) ? backend.name : "?", why);
}

int CheckDefinition(const KpBackend& backend) {
  // First: a struct of another major may be smaller, and its other fields elsewhere.
  if (backend.abi_version >> 16 != KP_DEVICE_ABI_MAJOR) {
    const std::string text =
        OtherMajorText("was built for device ABI " + VersionText(backend.abi_version), "device ABI",
                       KP_DEVICE_ABI_VERSION, backend.abi_version >> 16, "rebuild it against this version's headers");
    return kp_raise("ValueError", "kp_backend_register: a backend %s", text.c_str());
  }
  if (backend.struct_size < KP_BACKEND_SIZE_V1) return Refuse(backend, "struct_size is smaller than version 1's");
  if (backend.min_host_abi > KP_ABI_VERSION) {
    return kp_raise("ValueError",
                    "kp_backend_register: backend '%s' needs a host of ABI %s or newer; this is %s: pip install -U "
                    "kernpack",
                    IsIdentifier(backend.name) ? backend.name : "?", VersionText(backend.min_host_abi).c_str(),
                    VersionText(KP_ABI_VERSION).c_str());
  }
  if (!IsIdentifier(backend.name)) return Refuse(backend, "its name must be [a-z][a-z0-9_]*");
  for (const void* spare : backend.spare) {
    if (spare != nullptr)
      return Refuse(backend, "its spare fields must be 0 for a host of this version; run `pip install -U kernpack`");
  }
  if (backend.open == nullptr) return Refuse(backend, "open is NULL");
  const int32_t named = StaticDeviceType(backend.name);
  if (named != backend.device_type) {
    return kp_raise(
        "ValueError", "kp_backend_register: backend '%s' has device type %d; expected %d, %s", backend.name,
        backend.device_type, named,
        named != 0 ? "which DLPack gives that name" : "for the host to allot one, as DLPack has no such name");
  }
  if ((backend.build != nullptr || backend.load != nullptr) &&
      (backend.target_kinds == nullptr || backend.target_kinds[0] == nullptr)) {
    return Refuse(backend, "it has a generator or loader but no target kind");
  }
  return 0;
}

// Hands one of the backend's functions to everybody under a global name.
int Publish(const char* prefix, const char* kind, KpSafeCall call, void* self) {
  if (call == nullptr) return 0;
  OwnedAny function;
  if (kp_function_new(self, call, nullptr, function.out()) != 0) return -1;
  const std::string name = std::string(prefix) + kind;
  return service::global_set(kp_host(), Bytes(name), function.get().v.v_obj, /*replace=*/1);
}

int PublishAll(const KpBackend& backend) {
  if (backend.target_kinds == nullptr) return 0;
  const char* kind = backend.target_kinds[0];
  void* self = backend.self != nullptr ? backend.self : const_cast<KpHost*>(kp_host());
  if (Publish("target.build.", kind, backend.build, self) != 0) return -1;
  return Publish("module.load.", kind, backend.load, self);
}

Registry& TheRegistry() { return Leaked<Registry>(); }

}  // namespace

Backend* KnownBackend(int32_t device_type) noexcept {
  return TheRegistry().Find([&](const Backend& backend) { return backend.type == device_type; });
}

Backend* FindBackend(int32_t device_type) {
  if (Backend* backend = KnownBackend(device_type)) return backend;
  DiscoverPlugins();
  return KnownBackend(device_type);
}

Backend* FindBackend(std::string_view name) {
  const auto named = [&](const Backend& backend) { return name == backend.definition->name; };
  if (Backend* backend = TheRegistry().Find(named)) return backend;
  DiscoverPlugins();
  return TheRegistry().Find(named);
}

std::vector<Backend*> AllBackends() {
  std::vector<Backend*> all;
  TheRegistry().Find([&](Backend& backend) {
    all.push_back(&backend);
    return false;
  });
  return all;
}

std::vector<FailedPlugin> FailedPlugins() {
  const std::lock_guard lock(TheRegistry().mutex);
  return TheRegistry().failed;
}

void NoteFailedPlugin(FailedPlugin failed) {
  const std::lock_guard lock(TheRegistry().mutex);
  TheRegistry().failed.push_back(std::move(failed));
}

int RegisterBackend(const KpBackend* definition, std::string_view path) {
  if (definition == nullptr) return kp_raise("ValueError", "kp_backend_register: the backend is NULL");
  if (CheckDefinition(*definition) != 0) return -1;
  Registry& registry = TheRegistry();
  {
    const std::lock_guard lock(registry.mutex);
    const Backend* same =
        registry.Find([&](const Backend& known) { return std::strcmp(known.definition->name, definition->name) == 0; });
    if (same != nullptr && same->definition == definition) return 0;
    if (same != nullptr) {
      return kp_raise("ValueError", "kp_backend_register: a backend for device type %s is registered already%s%s",
                      definition->name, same->path.empty() ? "" : ", from ", same->path.c_str());
    }
    const int number = registry.count.load(std::memory_order_relaxed);
    if (number == kMaxBackends) {
      return kp_raise("RuntimeError", "kp_backend_register: there are %d backends already", kMaxBackends);
    }
    const int32_t type = definition->device_type != 0 ? definition->device_type : kFirstAllottedType + number;
    registry.Add(definition, type, path);
  }
  return PublishAll(*definition);
}

}  // namespace kernpack::host

using namespace kernpack::host;

int kp_backend_register(const KpBackend* backend) {
  return Guard("kp_backend_register", [&] { return RegisterBackend(backend, {}); });
}
