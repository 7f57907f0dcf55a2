// Detects that all warps of the blocks that run together wait for each other in loops, which no barrier tells.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_PROGRESS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_PROGRESS_H_

#include <cstdint>
#include <string>

#include "exec/block.h"

namespace kernpack::emulator {

class Progress {
 public:
  // Called when each warp has had its turn. Throws Fault when all wait, and have for a long time, and nothing has happened that could
  // end a wait. `opened`: a barrier opened.
  void Check(Block* block, bool opened);
  void Reset() { still_ = 0; }

 private:
  uint64_t last_ = 0;  // what had happened until then
  uint32_t still_ = 0;  // turns without anything
};

// Where the warps that haven't ended wait, in words: "warps 0 to 3 at PTX line 12 (bar.sync), warp 4 at ...".
std::string WhoWaits(const Block& block);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_PROGRESS_H_
