// An mbarrier: threads arrive at it in phases and ask whether a phase is over.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_MBARRIER_H_
#define KERNPACK_SDK_EMULATOR_EXEC_MBARRIER_H_

#include <cstdint>
#include <vector>

namespace kernpack::emulator {

// Its word of shared memory is opaque to programs, so that nothing is kept there.
struct MBarrier {
  uint32_t expected = 0;  // arrivals of each phase
  uint32_t pending = 0;   // those that this phase still needs
  int64_t transactions = 0;  // bytes that this phase still waits for
  uint32_t maker = 0, made = 0;  // the thread that made it, of all that run together, and its warp's clock
  uint64_t phase = 0;        // how many are over
  std::vector<uint32_t> arriving,
      opened;  // clocks of warps (RaceShadow) that arrivals handed over: to this phase, to the last
};

// Of Instruction::variant.
enum class MBarrierOp : uint8_t {
  kInit,
  kInvalidate,
  kArrive,
  kDrop,  // arrives, and isn't expected in later phases
  kExpect,
  kArriveExpecting,
  kDropExpecting,
  kComplete,
  kTest,        // by a token that an arrival returned
  kTestParity,  // of the phase
  kAfterCopies,  // arrives once the thread's cp.async have
  kAfterCopiesCounted,  // the same, as one of the arrivals that are expected
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_MBARRIER_H_
