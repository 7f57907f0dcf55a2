// Races through global memory: two accesses of a byte by different blocks, or by different warps of a block, one of them a weak one and
// one a write, with nothing that orders them.
//
// Launches that a stream, an event or the host orders are in order. Within a launch, what a block's barriers order is RaceShadow's matter,
// and what blocks order by fences and atomics is ReleaseGraph's. Lanes of a warp aren't told apart.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_GLOBAL_RACES_H_
#define KERNPACK_SDK_EMULATOR_EXEC_GLOBAL_RACES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "exec/access.h"
#include "exec/block.h"
#include "exec/global_shadow.h"
#include "exec/release_graph.h"
#include "exec/row_access.h"

namespace kernpack::emulator {

// Of the blocks that run together.
class GlobalRaces {
 public:
  // `units`: blocks or clusters, each of so many warps.
  GlobalRaces(ReleaseGraph* graph, uint32_t units, uint32_t warps) : units_(units, UnitOrder(graph, warps)) {}
  // Another block, or group of blocks, begins; the first of its units has that number.
  void Reset(uint32_t first);

  // Which bytes of a sector are written as they are. Two writes of one value do no harm.
  struct Same {
    uint32_t bytes = 0;  // those that are known
    const uint8_t* fresh = nullptr;  // what is written, and what is there, where both are to be compared
    const uint8_t* there = nullptr;
    int64_t begin = 0;  // of the sector in both; may be before them
    uint32_t Among(uint32_t of) const;
  };
  // An access of a warp to one sector, at that address. The access that it races with; NULL: none.
  const GlobalAccess* Check(const Warp& warp, const GlobalAccess& now, const Same& same, uint64_t address,
                            SectorShadow* sector);
  // The access as it's kept, without its bytes.
  GlobalAccess Describe(const Warp& warp, const Instruction& instruction, AccessKind kind) const;
  UnitOrder& GetUnit(const Warp& warp);

 private:
  uint32_t first_ = 0;
  std::vector<UnitOrder> units_;

  bool IsOrdered(const Warp& warp, const GlobalAccess& now, const GlobalAccess& before);
  // True for a write of a word at which the other block has released what it did, if this block has read the word since by a strong
  // access. So the last block that an atomic counts may reset the counter.
  bool HasObserved(const Warp& warp, const GlobalAccess& now, const GlobalAccess& before, uint64_t sector);
};

inline bool GlobalChecked(const Warp& warp, Space space) {
  return warp.block->global != nullptr && space == Space::kGlobal;
}

// Strength and scope of an access, which its modifiers say.
Strength GetStrength(const Instruction& instruction, AccessKind kind);

// "kernel rows of another stream wrote at PTX line 12 (st.global.f32)"
std::string LaunchText(const EarlierLaunch& launch, const GlobalAccess& access);
// A copy or fill by the driver touches memory of a region, which has sectors. The race that this is, in words; empty: none. Of the launch,
// its number and those that nothing orders before it count.
std::string TouchByDriver(const Launch& order, const Region& region, uint64_t address, uint64_t bytes, bool writes);

// Before an access. `same`: lanes that write the bytes that are there. Throws Fault.
void CheckGlobal(Warp& warp, const Instruction& instruction, const Access& access, uint32_t same);
// Of a weak access. `fresh`: what is written.
void CheckGlobalRow(Warp& warp, const Instruction& instruction, const RowAccess& row, const uint8_t* fresh);
void CheckGlobalBytes(Warp& warp, const Instruction& instruction, AccessKind kind, uint64_t address, uint64_t bytes,
                      uint32_t lane, bool same);
// After a strong access that reads.
void AcquireGlobal(Warp& warp, const Instruction& instruction, const Access& access);

// A lane's copy in bulk to global memory begins: others may see it at any time until the lane has waited for it.
void BeginBulkWrite(Warp& warp, const Instruction& instruction, AccessKind kind, uint64_t address, uint64_t bytes,
                    uint32_t lane, bool same);
// The lanes' copies of groups other than the last `left` have been waited for.
void EndBulkWrites(Warp& warp, const Instruction& instruction, uint32_t mask, uint64_t left);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_GLOBAL_RACES_H_
