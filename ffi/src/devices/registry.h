// The backends this process knows, by name and by device type.
#ifndef KERNPACK_SRC_DEVICES_REGISTRY_H_
#define KERNPACK_SRC_DEVICES_REGISTRY_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kernpack/device_api.h>

#include "devices/forward.h"

namespace kernpack::host {

// A registered backend. Lives until the process ends; `definition` to `path` do not change.
struct Backend {
  const KpBackend* definition = nullptr;
  int32_t type = 0;
  std::string path;  // of the plugin; empty: built in, or registered by the program
  enum State : int { kClosed, kOpening, kOpen, kUnavailable };
  std::atomic<int> state{kClosed};
  // Written while opening, by its one thread; read once the state says open or unavailable.
  ForwardingApi api;
  std::string reason;
};

// A plugin that could not be loaded, for kernpack.info().
struct FailedPlugin {
  std::string path;
  std::string reason;
};

// Device types that the host allots begin here.
constexpr int32_t kFirstAllottedType = 0x1001;

// Looks for plugins first when nothing of that type or name is known. NULL when there is none. Any thread, no lock held.
Backend* FindBackend(int32_t device_type);
Backend* FindBackend(std::string_view name);
// The backend of that type if it is known already; looks for nothing.
Backend* KnownBackend(int32_t device_type) noexcept;
// In order of registration.
std::vector<Backend*> AllBackends();
std::vector<FailedPlugin> FailedPlugins();
void NoteFailedPlugin(FailedPlugin failed);

// Returns 0, or -1 with a ValueError raised.
int RegisterBackend(const KpBackend* definition, std::string_view path);
// Returns 0, or -1 with an error raised.
int LoadPlugin(const char* path);
// Registers what lies beside the library and what KERNPACK_BACKENDS names, once. Raises nothing: see FailedPlugins.
void DiscoverPlugins();

// Opens the driver unless that was done; the state is then open (with devices) or unavailable. Returns 0, or -1 with an error
// raised where the backend failed otherwise.
int OpenBackend(Backend* backend);

// The host's table of a device type, opened. NULL with an error raised when it has no devices.
const KpDeviceApi* DeviceApi(int32_t device_type);

// Why there is no backend for the type on this system, in folders of its name; NULL where one may be installed.
const char* WhyNeverHere(int32_t device_type) noexcept;

// The active device of this thread by type, for backends that keep no such record themselves.
constexpr int kMaxBackends = 64;

// `backend` is its place in the registry. 0 until set.
int32_t ActiveDevice(int backend) noexcept;
void SetActiveDevice(int backend, int32_t id) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_REGISTRY_H_
