// Who touched global memory last. It's kept from launch to launch, beside the memory.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_GLOBAL_SHADOW_H_
#define KERNPACK_SDK_EMULATOR_EXEC_GLOBAL_SHADOW_H_

#include <cstdint>

namespace kernpack::emulator {

// By whom an access can be seen to be one with another: by none, by threads of the block, by all.
enum class Strength : uint8_t { kWeak, kBlock, kAll };

// The access of one warp to bytes of a sector.
struct GlobalAccess {
  uint32_t bytes = 0;  // a bit for each; 0: there is nothing
  uint32_t launch = 0;
  uint32_t unit = 0;  // the block or cluster
  uint32_t clock = 0;  // of the warp
  uint32_t statement = 0;
  uint16_t warp = 0;  // of the unit
  uint8_t kind = 0;
  Strength strength : 4 = Strength::kWeak;
  uint8_t async : 4 = 0;  // a write by the async proxy for which the thread hasn't waited
};

// 32 bytes of memory, and their last accesses. Those that matter no more are dropped; of many, some.
struct SectorShadow {
  static constexpr uint32_t kAccesses = 4;
  static constexpr uint32_t kBytes = 32;
  GlobalAccess accesses[kAccesses];
};

inline uint64_t CountSectors(uint64_t begin, uint64_t bytes) {
  return (begin % SectorShadow::kBytes + bytes + SectorShadow::kBytes - 1) / SectorShadow::kBytes;
}

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_GLOBAL_SHADOW_H_
