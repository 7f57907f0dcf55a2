// The backend's allocations, with the call that made each, so that the matching call frees it, and nothing is freed twice.
#ifndef KERNPACK_BACKENDS_CUDA_ALLOCATIONS_H_
#define KERNPACK_BACKENDS_CUDA_ALLOCATIONS_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace kernpack::cuda {

enum class MemoryKind { kGlobal, kManaged, kHost, kPool };

struct Allocation {
  MemoryKind kind;
  int32_t device;
  uint64_t bytes;
};

// Any thread.
class Allocations {
 public:
  void Add(const void* handle, Allocation allocation) {
    const std::lock_guard lock(mutex_);
    live_[handle] = allocation;
  }
  // Takes it out, so that of two threads freeing the same handle one gets nothing.
  std::optional<Allocation> Take(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(handle);
    if (found == live_.end()) return std::nullopt;
    const Allocation allocation = found->second;
    live_.erase(found);
    return allocation;
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return live_.size();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, Allocation> live_;
};

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_ALLOCATIONS_H_
