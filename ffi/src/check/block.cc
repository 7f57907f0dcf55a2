#include "check/block.h"

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
constexpr uint64_t kMostKept = 16384;  // bytes of one block

struct Kept {
  std::shared_ptr<Block> block;
  std::string function;
  std::string argument;
};

struct KeptBlocks {
  ForkMutex mutex{LockRank::kNames};
  std::array<Kept, 32> ring;
  size_t next = 0;
};

}  // namespace

Block::Block(uint64_t bytes, uintptr_t like, Turn turn)
    : outside_(turn == Turn::kFirst ? Mark::kOutside : Mark::kOutsideAgain), bytes_(bytes) {
  const uint64_t zone =
      std::clamp((bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment, kLeastZone, kMostZone);
  uint64_t all = 0;
  if (__builtin_add_overflow(bytes, 2 * zone + kBlockAlignment, &all)) throw std::bad_alloc();
  memory_.reset(static_cast<char*>(::operator new(all, std::align_val_t{kBlockAlignment})));
  front_ = zone + like % kBlockAlignment;
  back_ = all - front_ - bytes;
  data_ = memory_.get() + front_;
  FillMark(memory_.get(), front_, outside_);
  FillMark(data_ + bytes, back_, outside_);
}

void Block::Free::operator()(char* memory) const { ::operator delete(memory, std::align_val_t{kBlockAlignment}); }

Block::Damage Block::Look() const {
  Damage damage;
  const char* front = memory_.get();
  const char* end = data_ + bytes_;
  if (!HoldsMark(end, back_, outside_)) {
    damage.past = 0;
    while (static_cast<uint8_t>(end[damage.past]) == MarkByte(outside_, end + damage.past)) ++damage.past;
  }
  if (!HoldsMark(front, front_, outside_)) {
    const char* at = data_ - 1;
    while (static_cast<uint8_t>(*at) == MarkByte(outside_, at)) --at;
    damage.before = static_cast<uint64_t>(data_ - at);
  }
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
                        ": its memory was written after the earlier call that it was lent to had returned; keep no "
                        "pointer to an argument, a result or a workspace: storage_set(key, Tensor) keeps memory");
    kept = Kept{};
  }
}

}  // namespace kernpack::host::check
