#include "backends/cuda/backend.h"

#include <algorithm>
#include <cstdlib>

#include "backends/cuda/capture.h"
#include "backends/cuda/text.h"

namespace kernpack::cuda {
namespace {

constexpr const char* kRetaining = "retaining the device's primary context";

int Attribute(const Driver& driver, DeviceHandle device, DeviceAttribute attribute) {
  int value = 0;
  return driver.cuDeviceGetAttribute(&value, attribute, device) == kSuccess ? value : 0;
}

Limits ReadLimits(const Driver& driver, DeviceHandle device) {
  const auto get = [&](DeviceAttribute attribute) { return Attribute(driver, device, attribute); };
  Limits limits;
  limits.max_threads_per_block = get(kMaxThreadsPerBlock);
  for (int i = 0; i < 3; ++i) {
    limits.max_block[i] = get(static_cast<DeviceAttribute>(kMaxBlockDimX + i));
    limits.max_grid[i] = get(static_cast<DeviceAttribute>(kMaxGridDimX + i));
  }
  limits.max_shared = get(kMaxSharedMemoryPerBlock);
  limits.max_shared_optin = std::max(get(kMaxSharedMemoryPerBlockOptin), limits.max_shared);
  limits.max_pitch = get(kMaxPitch);
  limits.major = get(kComputeCapabilityMajor);
  limits.minor = get(kComputeCapabilityMinor);
  limits.clusters = get(kClusterLaunch) != 0;
  limits.cooperative = get(kCooperativeLaunch) != 0;
  limits.memory_pools = get(kMemoryPoolsSupported) != 0;
  limits.managed_memory = get(kManagedMemory) != 0;
  limits.concurrent_managed_access = get(kConcurrentManagedAccess) != 0;
  return limits;
}

// The emulated driver says so in its devices' names.
bool IsEmulated(const Driver& driver, DeviceHandle device) {
  char name[256] = {};
  return driver.cuDeviceGetName(name, sizeof name, device) == kSuccess &&
         std::string_view(name).starts_with("Emulated");
}

// Of freed memory that isn't given back yet. On the emulated device everything is given back at once: it then finds uses of it.
uint64_t DefaultRetiredLimit(const Driver& driver, DeviceHandle device) {
  constexpr uint64_t kShare = 32;
  size_t bytes = 0;
  if (driver.emulated || driver.cuDeviceTotalMem(&bytes, device) != kSuccess) return 0;
  return bytes / kShare;
}

}  // namespace

Device::Device(const Backend& owner, int number, DeviceHandle driver_handle, uint64_t retired_limit)
    : backend(owner),
      ordinal(number),
      handle(driver_handle),
      limits(ReadLimits(owner.driver(), driver_handle)),
      emulated(IsEmulated(owner.driver(), driver_handle)),
      retired(retired_limit) {}

Result Device::RetainContext(Context* out) const {
  *out = context_.load(std::memory_order_acquire);
  if (*out != nullptr) return kSuccess;
  const std::lock_guard lock(mutex_);
  *out = context_.load(std::memory_order_relaxed);
  if (*out != nullptr) return kSuccess;
  const RelaxedCapture relaxed(driver());
  const Result result = driver().cuDevicePrimaryCtxRetain(out, handle);
  if (result == kSuccess) context_.store(*out, std::memory_order_release);
  return result;
}

int Device::GetPool(Pool* out) const {
  *out = pool_.load(std::memory_order_acquire);
  if (*out != nullptr) return 0;
  const std::lock_guard lock(mutex_);
  *out = pool_.load(std::memory_order_relaxed);
  if (*out != nullptr) return 0;
  MemPoolProps properties{};
  properties.alloc_type = kMemAllocationPinned;
  properties.handle_types = kMemHandleNone;
  properties.location = {kMemLocationDevice, ordinal};
  Pool pool = nullptr;
  KP_CUDA_TRY(*this, cuMemPoolCreate, (&pool, &properties), "making a memory pool");
  // Freed memory stays with the pool until trim: giving it back at each synchronisation would cost more than it saves.
  unsigned long long keep = ~0ULL;
  KP_CUDA_TRY(*this, cuMemPoolSetAttribute, (pool, kPoolReleaseThreshold, &keep), "setting up a memory pool");
  pool_.store(*out = pool, std::memory_order_release);
  return 0;
}

void Device::EnablePeer(const Device& peer, Context context) const {
  const std::lock_guard lock(mutex_);
  peers_.resize(static_cast<size_t>(backend.count()));
  if (peers_[static_cast<size_t>(peer.ordinal)]) return;
  peers_[static_cast<size_t>(peer.ordinal)] = true;
  int can = 0;
  if (driver().cuDeviceCanAccessPeer(&can, handle, peer.handle) != kSuccess || can == 0) return;
  // Refused when somebody enabled it already, which is as good, and when there are too many peers.
  const RelaxedCapture relaxed(driver());
  static_cast<void>(driver().cuCtxEnablePeerAccess(context, 0));
}

bool Backend::Open(const KpHost* host, const char* driver_path, std::unique_ptr<Backend>* out, std::string* reason) {
  auto backend = std::make_unique<Backend>();
  backend->host_ = host;
  if (!OpenDriver(driver_path, &backend->driver_, reason)) return false;
  int count = 0;
  const Result result = backend->driver_.cuDeviceGetCount(&count);
  if (result != kSuccess) {
    *reason = "cuDeviceGetCount failed with " + ResultText(backend->driver_, result);
    return false;
  }
  for (int i = 0; i < count; ++i) {
    DeviceHandle handle = 0;
    if (const Result got = backend->driver_.cuDeviceGet(&handle, i); got != kSuccess) {
      *reason = Format("cuDeviceGet of device %d failed with %s", i, ResultText(backend->driver_, got).c_str());
      return false;
    }
    uint64_t retired = 0;
    if (!ReadRetiredLimit(DefaultRetiredLimit(backend->driver_, handle), &retired, reason)) return false;
    backend->devices_.push_back(std::make_unique<Device>(*backend, i, handle, retired));
  }
  if (count == 0) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    backend->why_none_ = "the driver " + std::string(driver_path) + " shows no device" +
                         (visible ? Format("; CUDA_VISIBLE_DEVICES is '%s'", visible) : std::string());
  }
  *out = std::move(backend);
  return true;
}

const Device* Backend::Find(int32_t id) const {
  if (id >= 0 && id < count()) return devices_[static_cast<size_t>(id)].get();
  Raise(host_, "IndexError",
        count() == 0
            ? Format("there is no device cuda:%d: %s", id, why_none_.c_str())
            : Format("there is no device cuda:%d: the driver shows %d, cuda:0 to cuda:%d", id, count(), count() - 1));
  return nullptr;
}

ActiveContext::ActiveContext(const Device& device) : device_(device) {
  Context wanted = nullptr;
  if (const Result result = device.RetainContext(&wanted); result != kSuccess) {
    Fail(device, result, "cuDevicePrimaryCtxRetain", kRetaining);
    failed_ = true;
    return;
  }
  const Driver& driver = device.driver();
  Context current = nullptr;
  if (driver.cuCtxGetCurrent(&current) == kSuccess && current == wanted) return;
  const Result result = driver.cuCtxPushCurrent(wanted);
  pushed_ = result == kSuccess;
  failed_ = !pushed_;
  if (failed_) Fail(device, result, "cuCtxPushCurrent", "making the device's context current");
}

ActiveContext::~ActiveContext() {
  Context popped = nullptr;
  if (pushed_) static_cast<void>(device_.driver().cuCtxPopCurrent(&popped));
}

int SetActive(const Device& device) {
  Context context = nullptr;
  if (const Result result = device.RetainContext(&context); result != kSuccess) {
    return Fail(device, result, "cuDevicePrimaryCtxRetain", kRetaining);
  }
  KP_CUDA_TRY(device, cuCtxSetCurrent, (context), "making the device active");
  return 0;
}

int GetActive(const Backend& backend, int32_t* id) {
  *id = 0;
  Context current = nullptr;
  DeviceHandle handle = 0;
  const Driver& driver = backend.driver();
  if (driver.cuCtxGetCurrent(&current) != kSuccess || current == nullptr) return 0;
  if (driver.cuCtxGetDevice(&handle) != kSuccess) return 0;
  for (const auto& device : backend.devices()) {
    if (device->handle == handle) *id = device->ordinal;
  }
  return 0;
}

}  // namespace kernpack::cuda
