#include "observe/check/block.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <utility>

#include "base/fork.h"
#include "base/leaked.h"

namespace kernpack::host::check {
namespace {

constexpr uint64_t kBlockAlignment = 256;
constexpr uint64_t kLeastZone = 4096;
constexpr uint64_t kMostZone = 65536;  // wider ones would double the memory of large arrays for little

struct Kept {
  std::shared_ptr<Block> block;
  std::string function;
  std::string argument;
};

struct KeptBlocks {
  ForkMutex mutex{LockRank::kNames};
  std::array<Kept, 64> ring;
  size_t next = 0;
};

}  // namespace

Block::Block(uint64_t bytes, uintptr_t like, Pattern outside) : outside_(outside), bytes_(bytes) {
  const uint64_t zone =
      std::clamp((bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment, kLeastZone, kMostZone);
  uint64_t all = 0;
  if (__builtin_add_overflow(bytes, 2 * zone + kBlockAlignment, &all)) throw std::bad_alloc();
  memory_.reset(static_cast<char*>(::operator new(all, std::align_val_t{kBlockAlignment})));
  front_ = zone + like % kBlockAlignment;
  back_ = all - front_ - bytes;
  data_ = memory_.get() + front_;
  FillPattern(memory_.get(), front_, outside_, -static_cast<int64_t>(front_));
  FillPattern(data_ + bytes, back_, outside_, static_cast<int64_t>(bytes));
}

void Block::Free::operator()(char* memory) const { ::operator delete(memory, std::align_val_t{kBlockAlignment}); }

Block::Damage Block::Look() const {
  Damage damage;
  const auto look = [this](int64_t from, int64_t to, int64_t step, int64_t edge, Reach* reach) {
    for (int64_t place = from; place != to; place += step) {
      if (static_cast<uint8_t>(data_[place]) == outside_.At(place)) continue;
      reach->farthest = static_cast<uint64_t>((place - edge) * step) + 1;
      if (reach->nearest == 0) reach->nearest = reach->farthest;
    }
  };
  const auto front = static_cast<int64_t>(front_);
  const auto end = static_cast<int64_t>(bytes_);
  const auto back = static_cast<int64_t>(back_);
  if (!HoldsPattern(data_ + end, back_, outside_, end)) look(end, end + back, 1, end, &damage.past);
  if (!HoldsPattern(memory_.get(), front_, outside_, -front)) look(-1, -front - 1, -1, -1, &damage.before);
  return damage;
}

void KeepForAWhile(std::shared_ptr<Block> block, const std::string& function, const std::string& argument) {
  if (block->bytes() == 0 || block->bytes() > kMostKept) return;
  FillMark(block->data(), block->bytes(), Mark::kReturned);
  Kept kept{std::move(block), function, argument};
  auto& all = Leaked<KeptBlocks>();
  const std::lock_guard lock(all.mutex);
  std::swap(all.ring[all.next], kept);
  all.next = (all.next + 1) % all.ring.size();
}

void LookAtKept(std::vector<std::string>* findings) {
  auto& all = Leaked<KeptBlocks>();
  const std::lock_guard lock(all.mutex);
  for (Kept& kept : all.ring) {
    if (!kept.block || HoldsMark(kept.block->data(), kept.block->bytes(), Mark::kReturned)) continue;
    findings->push_back(kept.function + ": " + kept.argument +
                        ": its memory was written after the call that lent it had returned; don't keep pointers to "
                        "arguments, results or workspaces: storage_set(key, Tensor) keeps memory");
    kept = Kept{};
  }
}

}  // namespace kernpack::host::check
