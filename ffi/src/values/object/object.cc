#include "values/object/object.h"

#include <atomic>

#include <kernpack/host/host.h>

#include "base/os/memory.h"
#include "base/thread_index.h"

namespace kernpack::host {
namespace {

constexpr int kShards = 16;
struct alignas(64) Shard {
  std::atomic<int64_t> count{0};
};
constinit Shard g_live[kShards];

}  // namespace

void CountLive(int64_t delta) noexcept {
  g_live[ThreadIndex() % kShards].count.fetch_add(delta, std::memory_order_relaxed);
}

void* AllocateObject(size_t body, size_t extra, size_t alignment, int32_t type_index, void (*deleter)(void*, int)) {
  size_t bytes = 0;
  if (__builtin_add_overflow(body, extra, &bytes)) throw std::bad_alloc();
  void* memory = os::Allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, body);
  KpObject* header = Header(memory);
  header->counts = kOneStrongOneWeak;
  header->type_index = type_index;
  header->deleter = deleter;
  CountLive(1);
  return memory;
}

void FreeObject(void* object) noexcept {
  CountLive(-1);
  os::Free(object);
}

}  // namespace kernpack::host

int64_t kp_live_objects(void) {
  int64_t total = 0;
  for (const auto& shard : kernpack::host::g_live) total += shard.count.load(std::memory_order_relaxed);
  return total;
}
