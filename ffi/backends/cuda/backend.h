// The driver's devices, once the driver is open; and the tables of devices that hosts call.
#ifndef KERNPACK_BACKENDS_CUDA_BACKEND_H_
#define KERNPACK_BACKENDS_CUDA_BACKEND_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <kernpack/device_api.h>

#include "backends/cuda/allocations.h"
#include "backends/cuda/driver.h"
#include "backends/cuda/error.h"
#include "backends/cuda/deferred_free.h"

namespace kernpack::cuda {

class Backend;

// Facts that never change; 0 where the device does not say.
struct Limits {
  int max_threads_per_block = 0;
  int max_block[3] = {};
  int max_grid[3] = {};
  int max_shared = 0;        // bytes a block may have without asking
  int max_shared_optin = 0;  // bytes when asked for; at least max_shared
  int max_pitch = 0;         // bytes between rows of a two-dimensional copy
  int major = 0;
  int minor = 0;
  bool clusters = false;
  bool cooperative = false;
  bool memory_pools = false;
  bool managed_memory = false;
  bool concurrent_managed_access = false;
};

struct Device {
 public:
  // `retired_limit`: as Retired takes it.
  Device(const Backend& backend, int ordinal, DeviceHandle handle, uint64_t retired_limit);

  const Driver& driver() const;
  const KpHost* host() const;
  std::string name() const { return "cuda:" + std::to_string(ordinal); }
  std::string arch() const { return "sm_" + std::to_string(limits.major * 10 + limits.minor); }

  // The primary context, which torch, JAX and CuPy use as well; retained at first use and never released.
  Result RetainContext(Context* out) const;
  // Our pool for stream-ordered allocations, made at first use. Call within an ActiveContext.
  int GetPool(Pool* out) const;
  // Lets this device reach memory in `peer`'s context where the hardware can; asked once a pair. Where it cannot, the driver
  // copies through the host. Call within an ActiveContext.
  void EnablePeer(const Device& peer, Context context) const;

  const Backend& backend;
  const int ordinal;
  const DeviceHandle handle;
  Limits limits;
  bool emulated = false;  // runs PTX only
  mutable Retired retired;

 private:
  mutable std::mutex mutex_;  // guards making what follows
  mutable std::atomic<Context> context_{nullptr};
  mutable std::atomic<Pool> pool_{nullptr};
  mutable std::vector<bool> peers_;  // by ordinal: asked already
};

class Backend {
 public:
  // Lists the devices; makes no context. False with *reason.
  static bool Open(const KpHost* host, const char* driver_path, std::unique_ptr<Backend>* out, std::string* reason);

  const KpHost* host() const { return host_; }
  const Driver& driver() const { return driver_; }
  int32_t count() const { return static_cast<int32_t>(devices_.size()); }
  const std::string& why_none() const { return why_none_; }  // when count is 0
  // NULL with an IndexError raised.
  const Device* Find(int32_t id) const;
  const std::vector<std::unique_ptr<Device>>& devices() const { return devices_; }
  Allocations& allocations() const { return allocations_; }

 private:
  const KpHost* host_ = nullptr;
  Driver driver_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::string why_none_;
  mutable Allocations allocations_;
};

inline const Driver& Device::driver() const { return backend.driver(); }
inline const KpHost* Device::host() const { return backend.host(); }

// Makes a device's primary context current for a scope, and the caller's own current again afterwards, whatever happened.
class ActiveContext {
 public:
  explicit ActiveContext(const Device& device);
  ActiveContext(const ActiveContext&) = delete;
  ActiveContext& operator=(const ActiveContext&) = delete;
  ~ActiveContext();
  bool failed() const { return failed_; }  // with an error raised

 private:
  const Device& device_;
  bool failed_ = false;
  bool pushed_ = false;
};

// The device whose context is current in this thread; 0 when there is none, as in CUDA's own runtime.
int SetActive(const Device& device);
int GetActive(const Backend& backend, int32_t* id);

// `device_type` is KP_DEVICE_CUDA, KP_DEVICE_CUDA_HOST or KP_DEVICE_CUDA_MANAGED: the same devices, and other memory by
// default. `backend` lives as long as the table.
KpDeviceApi MakeTable(const Backend* backend, int32_t device_type);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_BACKEND_H_
