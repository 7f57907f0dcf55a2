#include "devices/workspace/workspace.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <kernpack/host/device.h>

#include "shared/bytes.h"
#include "base/fork.h"
#include "base/leaked.h"
#include "base/os/thread.h"
#include "devices/call/context.h"
#include "devices/registry.h"
#include "devices/streams.h"
#include "base/services.h"
#include "values/object/object.h"
#include "values/tensor/dltensor.h"
#include "values/tensor/tensor_object.h"

namespace kernpack::host {
namespace {

constexpr uint64_t kMaxWorkspaceBytes = uint64_t{1} << 60;  // its bits still fit 64

struct Buffer {
  std::vector<KpAny> tensors;  // u8 tensors; the last is in use, earlier ones are kept alive
  uint64_t bytes = 0;

  void* data() const {
    const KpDLTensor* tensor = kp_any_tensor(&tensors.back());
    return static_cast<char*>(tensor->data) + tensor->byte_offset;
  }
};

// The buffers of one owner: a thread on CPU, or all streams of the other devices.
struct Pool {
  std::unordered_map<StoredKey, Buffer, KeyHash, KeyEqual> buffers;
};

struct Pools {
  ForkMutex mutex{LockRank::kWorkspace};
  Pool streams;
  std::vector<Pool*> threads;
  const os::ThreadValue of_thread{DropThread};

  Pools() {
    OnStreamEnd([](KpDLDevice device, void* stream) {
      DropWorkspaces([&](const KeyView& key) { return IsOfStream(key, device, stream); });
    });
  }
  static void DropThread(void* pool);
};

constinit thread_local Pool* t_pool = nullptr;

void Release(std::vector<KpAny>& tensors) {
  for (KpAny& tensor : tensors) kp_any_release(&tensor);
  tensors.clear();
}

void Pools::DropThread(void* ended) {
  auto* pool = static_cast<Pool*>(ended);
  auto& pools = Leaked<Pools>();
  {
    std::lock_guard lock(pools.mutex);
    std::erase(pools.threads, pool);
  }
  for (auto& [key, buffer] : pool->buffers) Release(buffer.tensors);
  delete pool;
  t_pool = nullptr;
}

Pool& ThreadPool(Pools& pools) {
  if (t_pool == nullptr) {
    auto* made = new Pool();
    pools.threads.push_back(made);
    t_pool = made;
    pools.of_thread.Set(made);
  }
  return *t_pool;
}

int Clear(const KeyView& key, const KpDLTensor& tensor, uint64_t bytes) {
  if (key.device.device_type == KP_DEVICE_CPU) {
    std::memset(static_cast<char*>(tensor.data) + tensor.byte_offset, 0, bytes);
    return 0;
  }
  int32_t devices = 0;
  OwnedAny reason;
  KpBytes why{};
  if (kp_device_count(key.device.device_type, &devices, reason.out()) != 0) return -1;
  if (kp_any_str(&reason.get(), &why)) {
    return kp_raise(
        "RuntimeError",
        "workspace: '%.*s' is to be zeroed on device %s:%d: %.*s; ask for it without kp::zeroed and clear it "
        "in the kernel",
        PrintLength(key.key), key.key.data(), kp_device_type_name(key.device.device_type), key.device.device_id,
        static_cast<int>(why.size), why.data);
  }
  const KpDeviceApi* api = nullptr;
  if (kp_device_api(key.device.device_type, &api) != 0) return -1;
  const KpMemory place{tensor.data, tensor.byte_offset, key.device};
  return api->fill(api, &place, bytes, 0, key.stream);
}

// True if one pointer is enough for the kernel: an aligned address, or a handle without an offset.
bool IsUsable(const KpDLTensor& tensor) {
  const Backend* backend = KnownBackend(tensor.device.device_type);
  const bool opaque = backend != nullptr && backend->state.load(std::memory_order_acquire) == Backend::kOpen &&
                      (backend->api.table.flags & KP_DEVICE_ADDRESSES) == 0;
  if (opaque) return tensor.byte_offset == 0;
  return (reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset) % kTensorAlignment == 0;
}

int Allocate(const KeyView& key, uint64_t bytes, uint32_t flags, KpAny* out) {
  int64_t shape = static_cast<int64_t>(bytes);
  KpDLTensor wanted{nullptr, key.device, 1, {KP_DTYPE_UINT, 8, 1}, &shape, nullptr, 0};
  OwnedAny made;
  const bool on_cpu = key.device.device_type == KP_DEVICE_CPU;
  const int rc = on_cpu ? kp_tensor_new(&wanted, made.out()) : service::tensor_alloc(kp_host(), &wanted, made.out());
  if (rc != 0) return -1;
  const KpDLTensor* tensor = made.get().type_index == KP_TYPE_TENSOR ? kp_any_tensor(&made.get()) : nullptr;
  if (tensor == nullptr || !IsUsable(*tensor)) {
    return kp_raise("RuntimeError",
                    "workspace: '%.*s': the calling framework's allocator did not return a tensor aligned to "
                    "%zu bytes",
                    PrintLength(key.key), key.key.data(), kTensorAlignment);
  }
  if ((flags & KP_WORKSPACE_ZEROED) && Clear(key, *tensor, bytes) != 0) return -1;
  *out = made.Take();
  return 0;
}

}  // namespace

int GetWorkspace(const KeyView& key, uint64_t bytes, uint32_t flags, void** out_data) {
  const bool on_cpu = key.device.device_type == KP_DEVICE_CPU;
  auto& pools = Leaked<Pools>();
  uint64_t grown = std::max<uint64_t>(bytes, kTensorAlignment);
  {
    std::lock_guard lock(pools.mutex);
    Pool& pool = on_cpu ? ThreadPool(pools) : pools.streams;
    const auto place = pool.buffers.find(key);
    if (place != pool.buffers.end()) {
      if (place->second.bytes >= bytes) {
        *out_data = place->second.data();
        return 0;
      }
      grown = std::max(grown, std::min<uint64_t>(place->second.bytes * 2, bytes * 2));
    }
  }
  if (grown >= kMaxWorkspaceBytes) {
    return kp_raise("MemoryError", "workspace: '%.*s': %llu bytes cannot be allocated", PrintLength(key.key),
                    key.key.data(), static_cast<unsigned long long>(bytes));
  }
  // Without the lock: the framework's allocator may take its own, or Python's.
  OwnedAny made;
  if (Allocate(key, grown, flags, made.out()) != 0) return -1;
  std::vector<KpAny> dropped;
  {
    std::lock_guard lock(pools.mutex);
    Pool& pool = on_cpu ? ThreadPool(pools) : pools.streams;
    Buffer& buffer = pool.buffers.try_emplace(StoredKey(key)).first->second;
    if (buffer.bytes < grown) {
      buffer.tensors.reserve(buffer.tensors.size() + 1);
      if (on_cpu) dropped.swap(buffer.tensors);
      buffer.tensors.push_back(made.Take());
      buffer.bytes = grown;
    }
    *out_data = buffer.data();
  }
  Release(dropped);
  return 0;
}

void ForEachWorkspace(const std::function<void(const KeyView&, uint64_t)>& visit) {
  auto& pools = Leaked<Pools>();
  std::lock_guard lock(pools.mutex);
  const auto visit_pool = [&](const Pool& pool) {
    for (const auto& [key, buffer] : pool.buffers) visit(key.view(), buffer.bytes);
  };
  visit_pool(pools.streams);
  for (const Pool* pool : pools.threads) visit_pool(*pool);
}

void DropWorkspaces(const std::function<bool(const KeyView&)>& match) {
  auto& pools = Leaked<Pools>();
  std::vector<KpAny> dropped;
  {
    std::lock_guard lock(pools.mutex);
    const auto drop = [&](Pool& pool) {
      for (auto place = pool.buffers.begin(); place != pool.buffers.end();) {
        if (!match(place->first.view())) {
          ++place;
          continue;
        }
        auto& tensors = place->second.tensors;
        dropped.insert(dropped.end(), tensors.begin(), tensors.end());
        place = pool.buffers.erase(place);
      }
    };
    drop(pools.streams);
    for (Pool* pool : pools.threads) drop(*pool);
  }
  Release(dropped);
}

}  // namespace kernpack::host
