// Memory with a guard zone on either side.
#ifndef KERNPACK_SRC_CHECK_BLOCK_H_
#define KERNPACK_SRC_CHECK_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "check/pattern.h"

namespace kernpack::host::check {

class Block {
 public:
  // `like`: the address whose alignment (modulo 256) the data takes over; the kernel shall see what it would see unchecked.
  // Throws std::bad_alloc.
  Block(uint64_t bytes, uintptr_t like, Turn turn = Turn::kFirst);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  char* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  bool Holds(const void* address) const {
    return address >= data_ && (address < data_ + bytes_ || (bytes_ == 0 && address == data_));
  }

  // Bytes of the guard zones that were written: how far behind the end the first one lies, and how far in front of the
  // start the last one does (1: right before it). 0 in `before`, UINT64_MAX in `past`: none.
  struct Damage {
    uint64_t past = UINT64_MAX;
    uint64_t before = 0;
  };
  Damage Look() const;

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Free> memory_;
  Mark outside_;
  char* data_;
  uint64_t bytes_;
  uint64_t front_;
  uint64_t back_;
};

// A kernel must not use what it was lent once it has returned. Small blocks of the last calls are kept for a while, filled
// with marks: a pointer that was kept writes there, and not into somebody else's memory.
void KeepForAWhile(std::shared_ptr<Block> block, const std::string& function, const std::string& argument);
// Appends one text for each kept block that was written to, and forgets it.
void LookAtKept(std::vector<std::string>* findings);

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_CHECK_BLOCK_H_
