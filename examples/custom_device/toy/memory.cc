#include "memory.h"

namespace toy {

void* Memory::Alloc(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > kCapacity - used_) {
    throw Error("MemoryError",
                std::to_string(bytes) + " bytes do not fit, " + std::to_string(kCapacity - used_) + " are free");
  }
  auto block = std::make_unique<Block>(Block{std::unique_ptr<char[]>(new char[bytes]), bytes});
  blocks_.insert(block.get());
  used_ += bytes;
  return block.release();
}

void Memory::Free(void* handle) {
  const std::lock_guard lock(mutex_);
  auto* block = static_cast<Block*>(handle);
  if (blocks_.erase(block) == 0) throw Error("ValueError", "free: the handle is not one of its memory");
  used_ -= block->bytes;
  delete block;
}

uint64_t Memory::available() const {
  const std::lock_guard lock(mutex_);
  return kCapacity - used_;
}

const Block& Memory::Find(void* handle) const {
  const std::lock_guard lock(mutex_);
  auto* block = static_cast<Block*>(handle);
  if (!blocks_.contains(block)) throw Error("ValueError", "the handle is not one of its memory");
  return *block;
}

char* Memory::At(const KpMemory& place, uint64_t bytes) const {
  const Block& block = Find(place.handle);
  if (place.offset > block.bytes || bytes > block.bytes - place.offset) {
    throw Error("ValueError", "bytes " + std::to_string(place.offset) + " to " + std::to_string(place.offset + bytes) +
                                  " are not inside a block of " + std::to_string(block.bytes));
  }
  return block.data.get() + place.offset;
}

}  // namespace toy
