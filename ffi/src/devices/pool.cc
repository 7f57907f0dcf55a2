#include "devices/pool.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include <kernpack/host/device.h>

#include "base/fork.h"
#include "base/guard.h"
#include "base/leaked.h"
#include "base/os/thread.h"
#include "devices/call/context.h"
#include "devices/forward.h"
#include "devices/memory.h"
#include "devices/pool_blocks.h"
#include "devices/registry.h"

namespace kernpack::host {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxBytes = uint64_t{1} << 60;

bool OnCpu(KpDLDevice device) { return device.device_type == KP_DEVICE_CPU; }

// Every pool; pools live until the process ends, as a thread may still hold one's address.
struct Pools {
  ForkMutex mutex{LockRank::kWorkspace};
  std::vector<Pool*> all;
  std::vector<Pool*> threadless;  // of the CPU, for the next thread that needs one
  const os::ThreadValue of_thread{EndThread};

  Pools() { OnForkedChild(ForgetParents); }
  static void EndThread(void* pool);
  static void ForgetParents();
};

constinit thread_local Pool* t_cpu = nullptr;   // this thread's own
constinit thread_local Pool* t_last = nullptr;  // of another device, asked for last

Pools& ThePools() { return Leaked<Pools>(); }

// In the order of `stream`, which has to be there: a driver may crash over one that was freed.
void Release(const KpDeviceApi* api, const Pool& pool, const Block& block, void* stream) {
  const ErrorKeeper keeper;
  api->workspace_free(api, pool.device(), block.handle, stream);
}

// The stream in whose order a pool is given back. If the pool's own stream is gone, the default stream, which waits for its work.
void* LivingStream(const Pool& pool) { return pool.forgotten() ? nullptr : pool.stream(); }

uint64_t Trim(const KpDeviceApi* api, Pool* pool, void* stream) {
  uint64_t bytes = 0;
  for (const Block& block : pool->TakeFree(pool == t_cpu || pool->ownerless())) {
    Release(api, *pool, block, stream);
    bytes += block.bytes;
  }
  return bytes;
}

// Before the pool's stream is freed. What is still in use is given back on the default stream later.
void Forget(const KpDeviceApi* api, Pool* pool) {
  const ErrorKeeper keeper;
  if (pool->forgotten()) return;
  if (pool->InUse() && pool->stream() != nullptr) {
    api->stream_wait_stream(api, pool->device(), nullptr, pool->stream());
  }
  pool->Forget();
}

void Pools::EndThread(void* ended) {
  auto* pool = static_cast<Pool*>(ended);
  pool->SetOwned(false);
  Trim(DeviceApi(KP_DEVICE_CPU), pool, nullptr);
  t_cpu = nullptr;
  auto& pools = ThePools();
  const std::lock_guard lock(pools.mutex);
  pools.threadless.push_back(pool);
}

// Other threads' pools are nobody's now, and those that were being changed are lost.
void Pools::ForgetParents() {
  auto& pools = ThePools();
  pools.threadless.clear();
  std::erase_if(pools.all, [](const Pool* pool) { return pool->broken(); });
  for (Pool* pool : pools.all) {
    if (!OnCpu(pool->device()) || pool == t_cpu) continue;
    pool->SetOwned(false);
    pools.threadless.push_back(pool);
  }
}

Pool* CpuPool(KpDLDevice device) {
  if (t_cpu != nullptr) return t_cpu;
  auto& pools = ThePools();
  const std::lock_guard lock(pools.mutex);
  if (!pools.threadless.empty()) {
    t_cpu = pools.threadless.back();
    pools.threadless.pop_back();
  } else {
    pools.all.push_back(nullptr);
    t_cpu = pools.all.back() = new Pool(device, nullptr);
  }
  t_cpu->SetOwned(true);
  pools.of_thread.Set(t_cpu);
  return t_cpu;
}

// The pool of a device and stream, made when it is not there.
Pool* GetPool(KpDLDevice device, void* stream) {
  if (OnCpu(device)) return CpuPool(device);
  if (t_last != nullptr && t_last->Serves(device, stream) && !t_last->forgotten()) return t_last;
  auto& pools = ThePools();
  const std::lock_guard lock(pools.mutex);
  const auto found = std::find_if(pools.all.begin(), pools.all.end(),
                                  [&](const Pool* pool) { return pool->Serves(device, stream) && !pool->forgotten(); });
  if (found != pools.all.end()) return t_last = *found;
  pools.all.push_back(nullptr);
  return t_last = pools.all.back() = new Pool(device, stream);
}

// The table of a device that this process may use; NULL with an error raised.
const KpDeviceApi* Enter(KpDLDevice device) {
  const KpDeviceApi* api = DeviceApi(device.device_type);
  return api != nullptr && MayEnter(Forwarding(api)) ? api : nullptr;
}

int AllocNew(const KpDeviceApi* api, Pool* pool, uint64_t bytes, void** out) {
  Block block{nullptr, bytes};
  if (WithReserve(api, pool->device(), [&] {
        return api->workspace_alloc(api, pool->device(), bytes, pool->stream(), &block.handle);
      }) != 0) {
    return -1;
  }
  Block dropped{nullptr, 0};
  pool->Add(block, &dropped);
  if (dropped.handle != nullptr) Release(api, *pool, dropped, LivingStream(*pool));
  *out = block.handle;
  return 0;
}

// The pool in which a block is in use; NULL when there is none.
Pool* FindHolder(KpDLDevice device, void* handle) {
  auto& pools = ThePools();
  const std::lock_guard lock(pools.mutex);
  for (Pool* pool : pools.all) {
    if (SameDevice(pool->device(), device) && pool->Holds(handle)) return pool;
  }
  return nullptr;
}

// Freed by a thread other than the one that allocated, or for work on another stream.
int FreeElsewhere(const KpDeviceApi* api, KpDLDevice device, void* handle, void* stream) {
  Pool* pool = FindHolder(device, handle);
  if (pool != nullptr && LivingStream(*pool) != stream &&
      api->stream_wait_stream(api, device, LivingStream(*pool), stream) != 0) {
    return -1;  // later work on the pool's stream gets the block as soon as it is free
  }
  if (pool == nullptr || !pool->Free(handle)) {
    return kp_raise("ValueError", "kp_workspace_free: %p on device %s:%d isn't a workspace in use", handle,
                    kp_device_type_name(device.device_type), device.device_id);
  }
  if (pool->forgotten()) Trim(api, pool, nullptr);
  return 0;
}

// The slow halves are functions of their own: what they keep in registers costs the fast ones nothing.
[[gnu::noinline]] int AllocFromLists(KpDLDevice device, uint64_t bytes, void* stream, void** out) noexcept {
  return Guard("kp_workspace_alloc", [&] {
    const uint64_t rounded = std::max((bytes + kPage - 1) / kPage * kPage, kPage);
    if (bytes > kMaxBytes) {
      return kp_raise("MemoryError", "kp_workspace_alloc: %llu bytes cannot be allocated",
                      static_cast<unsigned long long>(bytes));
    }
    const KpDeviceApi* api = Enter(device);
    if (api == nullptr) return -1;
    Pool* pool = GetPool(device, stream);
    *out = pool->Reuse(rounded);
    if (*out == nullptr && AllocNew(api, pool, rounded, out) != 0) return -1;
    if (pool == t_cpu) pool->MakeHot(*out);
    return 0;
  });
}

[[gnu::noinline]] int FreeToLists(KpDLDevice device, void* handle, void* stream) noexcept {
  return Guard("kp_workspace_free", [&] {
    const KpDeviceApi* api = Enter(device);
    if (api == nullptr) return -1;
    Pool* pool = OnCpu(device) ? t_cpu : t_last;  // most often that one has it
    const bool serves = pool != nullptr && pool->Serves(device, stream) && !pool->forgotten();
    return serves && pool->Free(handle) ? 0 : FreeElsewhere(api, device, handle, stream);
  });
}

}  // namespace

int TrimPools(KpDLDevice device, void* const* stream, bool forget, uint64_t* out_bytes) {
  const KpDeviceApi* api = Enter(device);
  if (api == nullptr) return -1;
  auto& pools = ThePools();
  std::vector<Pool*> mine;
  {
    const std::lock_guard lock(pools.mutex);
    for (Pool* pool : pools.all) {
      if (!SameDevice(pool->device(), device) || (stream != nullptr && pool->stream() != *stream)) continue;
      mine.push_back(pool);
    }
  }
  uint64_t bytes = 0;
  for (Pool* pool : mine) {
    void* const living = LivingStream(*pool);
    if (forget) Forget(api, pool);
    bytes += Trim(api, pool, living);
  }
  if (out_bytes != nullptr) *out_bytes = bytes;
  return 0;
}

void ForEachPool(const std::function<void(const PoolUsage&)>& visit) {
  auto& pools = ThePools();
  const std::lock_guard lock(pools.mutex);
  for (Pool* pool : pools.all) visit(pool->usage());
}

void DropPools() {
  std::vector<KpDLDevice> devices;
  ForEachPool([&](const PoolUsage& usage) { devices.push_back(usage.device); });
  for (const KpDLDevice device : devices) {
    if (TrimPools(device, nullptr, false) != 0) kp_error_clear();  // a child's, of its parent's driver
  }
}

}  // namespace kernpack::host

using namespace kernpack::host;

int kp_workspace_alloc(KpDLDevice device, uint64_t bytes, void* stream, void** out) {
  if (OnCpu(device) && t_cpu != nullptr) {
    if (void* hot = t_cpu->TakeHot(bytes)) {
      *out = hot;
      return 0;
    }
  }
  return AllocFromLists(device, bytes, stream, out);
}

int kp_workspace_free(KpDLDevice device, void* handle, void* stream) {
  if (OnCpu(device) && t_cpu != nullptr && t_cpu->FreeHot(handle)) return 0;
  return FreeToLists(device, handle, stream);
}

int kp_workspace_trim(KpDLDevice device, uint64_t* out_bytes) {
  return Guard("kp_workspace_trim", [&] { return TrimPools(device, nullptr, false, out_bytes); });
}
