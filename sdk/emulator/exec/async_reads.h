// Shared memory that wgmma and copies in bulk are still reading: nobody may write there.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_ASYNC_READS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_ASYNC_READS_H_

#include <cstdint>
#include <list>
#include <vector>

namespace kernpack::emulator {

// The shared memory that one instruction reads.
struct AsyncRead {
  uint32_t warp = 0, lane = 0;  // that issued it
  uint32_t statement = 0;
  const char* end = "";  // the instruction that says that it has ended
  std::vector<uint32_t> units;  // of 16 bytes, in Block::shared
};

class AsyncReads {
 public:
  static constexpr uint32_t kUnit = 16;  // bytes
  using Id = std::list<AsyncRead>::const_iterator;

  // Forgets what was. The size is of all shared memory that runs together.
  void Reset(uint64_t shared_bytes);
  Id Begin(AsyncRead read);
  void End(Id read);
  bool any() const { return !reads_.empty(); }
  // A read of one of these bytes; NULL when there is none.
  const AsyncRead* Find(uint64_t offset, uint64_t bytes) const;

 private:
  std::list<AsyncRead> reads_;
  std::vector<uint16_t> counts_;  // of reads, for each unit
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_ASYNC_READS_H_
