// Memory of one device that was freed while queued work may still use it. Giving it to the driver waits for the device, so it is
// given back in batches: one wait for many tensors.
#ifndef KERNPACK_BACKENDS_CUDA_DEFERRED_FREE_H_
#define KERNPACK_BACKENDS_CUDA_DEFERRED_FREE_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/allocations.h"

namespace kernpack::cuda {

struct RetiredMemory {
  void* handle;
  Allocation allocation;
};

// Any thread.
class Retired {
 public:
  // At most so many bytes are kept; with 0, nothing is.
  explicit Retired(uint64_t limit) : limit_(limit) {}

  bool keeps() const { return limit_ != 0; }
  // True where so much is kept now that the caller has to take it and give it back.
  bool Add(const RetiredMemory& memory) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(memory);
    bytes_ += memory.allocation.bytes;
    return bytes_ > limit_ || kept_.size() > kMostBlocks;
  }
  std::vector<RetiredMemory> Take() {
    const std::lock_guard lock(mutex_);
    bytes_ = 0;
    return std::exchange(kept_, {});
  }
  // That the driver counts as used, though nobody does.
  uint64_t device_bytes() {
    const std::lock_guard lock(mutex_);
    uint64_t sum = 0;
    for (const RetiredMemory& memory : kept_) {
      if (memory.allocation.kind != MemoryKind::kHost) sum += memory.allocation.bytes;
    }
    return sum;
  }

 private:
  static constexpr size_t kMostBlocks = 1024;

  const uint64_t limit_;
  std::mutex mutex_;
  std::vector<RetiredMemory> kept_;
  uint64_t bytes_ = 0;
};

// Reads KERNPACK_CUDA_FREED_MIB, in bytes. If it isn't set, *out is `unset`. False with *reason if it isn't such a number.
bool ReadRetiredLimit(uint64_t unset, uint64_t* out, std::string* reason);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_DEFERRED_FREE_H_
