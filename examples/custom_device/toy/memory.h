// The toy's memory: blocks behind handles that aren't addresses.
#ifndef TOY_MEMORY_H_
#define TOY_MEMORY_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "toy.h"

namespace toy {

struct Block {
  std::unique_ptr<char[]> data;
  uint64_t bytes;
};

class Memory {
 public:
  static constexpr uint64_t kCapacity = uint64_t{256} << 20;

  void* Alloc(uint64_t bytes);
  void Free(void* handle);
  uint64_t available() const;
  // Where `bytes` bytes begin. Throws where they are not inside the block.
  char* At(const KpMemory& place, uint64_t bytes) const;

 private:
  const Block& Find(void* handle) const;

  mutable std::mutex mutex_;
  std::unordered_set<Block*> blocks_;
  uint64_t used_ = 0;
};

}  // namespace toy

#endif  // TOY_MEMORY_H_
