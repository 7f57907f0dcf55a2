// cp.async.bulk: copies of many bytes that one thread begins. Those into shared memory are told of by an mbarrier, those out of it by
// groups of the thread.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_BULK_H_
#define KERNPACK_SDK_EMULATOR_EXEC_BULK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/warp.h"

namespace kernpack::emulator {

struct Block;
struct MBarrier;

// A copy into shared memory that has not arrived. It arrives at the latest possible moment: when a thread tests its mbarrier.
struct Bulk {
  Copy copy;
  std::shared_ptr<const std::vector<uint8_t>> box;  // of a tensor, as it is to lie there; NULL: copy.from
  uint32_t warp = 0;  // of the thread that began it
  uint64_t barrier = 0;  // the place of its mbarrier
  std::vector<uint32_t> clocks;  // that its thread handed over
};

// Lets those arrive that the mbarrier at `place` tells of. False: there are none.
bool FinishBulks(Block* block, uint64_t place, MBarrier* barrier);
// Throws Fault when the blocks have ended and there still is one.
void NeedNoBulks(const Block& block);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_BULK_H_
