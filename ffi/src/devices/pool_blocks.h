// One pool: the blocks in use, those that are free, and a few that the owning thread passes to itself without a lock.
#ifndef KERNPACK_SRC_DEVICES_POOL_BLOCKS_H_
#define KERNPACK_SRC_DEVICES_POOL_BLOCKS_H_

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "base/spin_lock.h"
#include "devices/call/context.h"
#include "devices/pool.h"

namespace kernpack::host {

struct Block {
  void* handle;
  uint64_t bytes;
};

class Pool {
 public:
  Pool(KpDLDevice device, void* stream) : usage_{device, stream, 0, 0, 0, 0, 0} {}

  KpDLDevice device() const { return usage_.device; }
  void* stream() const { return usage_.stream; }
  bool Serves(KpDLDevice device, void* stream) const {
    return usage_.stream == stream && SameDevice(device, usage_.device);
  }
  // No longer found by its stream, which is gone.
  void Forget() { forgotten_.store(true, std::memory_order_relaxed); }
  bool forgotten() const { return forgotten_.load(std::memory_order_relaxed); }
  // Records if a thread takes hot blocks from this pool.
  void SetOwned(bool owned) { owned_.store(owned, std::memory_order_release); }
  bool ownerless() const { return !owned_.load(std::memory_order_acquire); }

  // ---- by the owning thread only ----
  // A hot block is one in use, as far as the lists know. Its state goes from free to used by the owner alone; anybody who
  // frees it moves it back.
  void* TakeHot(uint64_t bytes) {
    if (flush_.load(std::memory_order_relaxed)) return nullptr;
    Hot* hot = last_;
    for (unsigned i = 0; i < kHot; ++i, hot = Next(hot)) {
      if (hot->block.bytes < bytes || hot->block.bytes / kWaste > bytes) continue;
      if (hot->state.load(std::memory_order_acquire) != kFree) continue;
      hot->state.store(kUsed, std::memory_order_relaxed);
      taken_.store(taken_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      last_ = hot;
      return hot->block.handle;
    }
    return nullptr;
  }
  bool FreeHot(void* handle) {
    Hot* hot = last_;
    for (unsigned i = 0; i < kHot; ++i, hot = Next(hot)) {
      if (hot->block.handle != handle || hot->state.load(std::memory_order_relaxed) != kUsed) continue;
      hot->state.store(kFree, std::memory_order_release);
      last_ = hot;
      return true;
    }
    return false;
  }
  // A block in use becomes hot where there is room.
  void MakeHot(void* handle) {
    const std::lock_guard lock(lock_);
    Flush();
    for (Hot& hot : hot_) {
      if (hot.state.load(std::memory_order_relaxed) != kEmpty) continue;
      const auto place = Find(handle);
      if (place == used_.end()) return;
      hot.block = *place;
      hot.state.store(kUsed, std::memory_order_relaxed);
      return;
    }
  }

  // ---- by any thread ----
  // A block that was freed before, the smallest that fits and is not far too large; NULL when there is none.
  void* Reuse(uint64_t bytes) {
    const std::lock_guard lock(lock_);
    ++usage_.allocations;
    if (owned_.load(std::memory_order_relaxed)) Flush();
    auto best = free_.end();
    for (auto block = free_.end(); block != free_.begin();) {
      --block;
      const bool fits = block->bytes >= bytes && block->bytes / kWaste <= bytes;
      if (fits && (best == free_.end() || block->bytes < best->bytes)) best = block;
      if (fits && block->bytes == bytes) break;  // the last freed of that size
    }
    if (best == free_.end()) return nullptr;
    const Block block = *best;
    used_.push_back(block);
    free_.erase(best);
    ++usage_.reused;
    Use(block.bytes);
    return block.handle;
  }

  // A new block is in use. A free one that is a little smaller comes back in *out to be released: what grows step by step leaves
  // no trail.
  void Add(const Block& block, Block* out) {
    const std::lock_guard lock(lock_);
    used_.push_back(block);
    usage_.held += block.bytes;
    Use(block.bytes);
    auto outgrown = free_.end();
    for (auto other = free_.begin(); other != free_.end(); ++other) {
      const bool smaller = other->bytes < block.bytes && other->bytes >= block.bytes / kWaste;
      if (smaller && (outgrown == free_.end() || other->bytes > outgrown->bytes)) outgrown = other;
    }
    if (outgrown == free_.end()) return;
    *out = *outgrown;
    usage_.held -= outgrown->bytes;
    free_.erase(outgrown);
  }

  bool Holds(void* handle) {
    const std::lock_guard lock(lock_);
    return Find(handle) != used_.end();
  }

  bool InUse() {
    const std::lock_guard lock(lock_);
    return !used_.empty();
  }

  // False when the block is not in use here.
  bool Free(void* handle) {
    const std::lock_guard lock(lock_);
    for (Hot& hot : hot_) {
      uint32_t used = kUsed;
      if (hot.block.handle != handle || hot.state.load(std::memory_order_relaxed) == kEmpty) continue;
      return hot.state.compare_exchange_strong(used, kFree, std::memory_order_release);
    }
    const auto place = Find(handle);
    if (place == used_.end()) return false;
    Release(place);
    return true;
  }

  // Takes all blocks that aren't in use, for the caller to release. `hot`: the owner asks, or there is none; else the owner brings its hot
  // blocks back at its next call.
  std::vector<Block> TakeFree(bool hot) {
    const std::lock_guard lock(lock_);
    if (hot) {
      Flush();
    } else {
      flush_.store(true, std::memory_order_relaxed);
    }
    for (const Block& block : free_) usage_.held -= block.bytes;
    return std::exchange(free_, {});
  }

  PoolUsage usage() {
    const std::lock_guard lock(lock_);
    PoolUsage usage = usage_;
    const uint64_t taken = taken_.load(std::memory_order_relaxed);
    usage.allocations += taken;
    usage.reused += taken;
    for (const Hot& hot : hot_) {
      if (hot.state.load(std::memory_order_relaxed) == kFree) usage.in_use -= hot.block.bytes;
    }
    return usage;
  }
  // In a forked child: a thread of the parent was in the midst of a change.
  bool broken() const { return lock_.held(); }

 private:
  static constexpr unsigned kHot = 4;
  static constexpr uint64_t kWaste = 4;  // a block is at most so many times larger than what is asked for
  enum State : uint32_t { kEmpty, kFree, kUsed };
  struct Hot {
    Block block{};  // written under the lock, by the owner
    std::atomic<uint32_t> state{kEmpty};
  };

  Hot* Next(Hot* hot) { return hot + 1 == hot_ + kHot ? hot_ : hot + 1; }
  void Use(uint64_t bytes) {
    usage_.in_use += bytes;
    usage_.high_water = std::max(usage_.high_water, usage_.in_use);
  }
  // The last allocated first.
  std::vector<Block>::iterator Find(void* handle) {
    const auto place =
        std::find_if(used_.rbegin(), used_.rend(), [&](const Block& block) { return block.handle == handle; });
    return place == used_.rend() ? used_.end() : std::prev(place.base());
  }
  void Release(std::vector<Block>::iterator place) {
    usage_.in_use -= place->bytes;
    free_.push_back(*place);
    used_.erase(place);
  }
  // Hot blocks that are free join the others.
  void Flush() {
    flush_.store(false, std::memory_order_relaxed);
    for (Hot& hot : hot_) {
      if (hot.state.load(std::memory_order_acquire) != kFree) continue;
      const auto place = Find(hot.block.handle);
      if (place != used_.end()) Release(place);
      hot.block = Block{};
      hot.state.store(kEmpty, std::memory_order_relaxed);
    }
  }

  Hot hot_[kHot];
  Hot* last_ = hot_;  // the hot block that was taken or freed last
  std::atomic<bool> flush_{false};
  std::atomic<bool> owned_{false};
  std::atomic<uint64_t> taken_{0};  // hot blocks, by the owner
  std::atomic<bool> forgotten_{false};
  SpinLock lock_;
  PoolUsage usage_;
  std::vector<Block> used_;  // in order of allocation
  std::vector<Block> free_;  // the last freed at the end
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_POOL_BLOCKS_H_
