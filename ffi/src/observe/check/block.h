// Memory with a guard zone on either side.
#ifndef KERNPACK_SRC_OBSERVE_CHECK_BLOCK_H_
#define KERNPACK_SRC_OBSERVE_CHECK_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "observe/check/outside.h"

namespace kernpack::host::check {

constexpr uint64_t kMostKept = 16384;  // bytes of a block that is kept after its use

class Block {
 public:
  // `like`: the address whose alignment (modulo 256) the data takes over; the kernel shall see what it would see unchecked.
  // `outside`: what the guard zones hold. Throws std::bad_alloc.
  Block(uint64_t bytes, uintptr_t like, Pattern outside);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  char* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  // All of it, guard zones too: what is copied to a device and back.
  char* whole() const { return memory_.get(); }
  uint64_t whole_bytes() const { return front_ + bytes_ + back_; }
  uint64_t front() const { return front_; }  // bytes before the data
  bool Holds(const void* address) const {
    return address >= data_ && (address < data_ + bytes_ || (bytes_ == 0 && address == data_));
  }

  // Bytes of the guard zones that were written: the distance of the nearest and the farthest one, 1 right beside the data.
  struct Reach {
    uint64_t nearest = 0;  // 0: none
    uint64_t farthest = 0;
  };
  struct Damage {
    Reach past;
    Reach before;
  };
  Damage Look() const;

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  std::unique_ptr<char, Free> memory_;
  Pattern outside_;
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

#endif  // KERNPACK_SRC_OBSERVE_CHECK_BLOCK_H_
