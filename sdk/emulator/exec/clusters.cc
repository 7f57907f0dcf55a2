#include "exec/clusters.h"

#include <algorithm>

#include "exec/access.h"
#include "exec/fault.h"
#include "exec/warp.h"
#include "exec/memory_ops.h"

namespace kernpack::emulator {
namespace {

// Which of the clusters that run together. There are several only in a cooperative launch, where each is a block.
uint32_t GetCluster(const Warp& warp) { return warp.rank - ClusterRank(warp); }

void NeedAligned(const Warp& warp, const Instruction& instruction, uint32_t mask) {
  if (instruction.count == 0 || mask == warp.live()) return;
  Fail(warp, instruction, First(mask), Fault::Kind::kDivergentBarrier,
       Text("is run by the lanes 0x%08x of the warp alone; .aligned says that all 0x%08x run it together", mask,
            warp.live()));
}

void Waited(Warp* warp, uint32_t mask) {
  warp->cluster_passed &= ~mask;
  warp->block->races.WaitForCluster(*warp, GetCluster(*warp));
  ++warp->clock;
}

uint32_t NeedRank(const Warp& warp, const Instruction& instruction, uint32_t lane, uint64_t rank) {
  const uint32_t blocks = warp.block->launch->cluster_blocks();
  if (rank < blocks) return static_cast<uint32_t>(rank);
  Fail(warp, instruction, lane, Fault::Kind::kIllegalAddress,
       Text("names block %llu of the cluster, which has %u", static_cast<unsigned long long>(rank), blocks));
}

// A shared address without the window, or a Fault.
uint64_t InWindow(const Warp& warp, const Instruction& instruction, uint32_t lane) {
  const unsigned char* slot = warp.registers + instruction.op[1];
  uint64_t address = instruction.wide ? reinterpret_cast<const uint64_t*>(slot)[lane]
                                      : uint64_t{reinterpret_cast<const uint32_t*>(slot)[lane]};
  if (instruction.space != Space::kGeneric) return address;
  if (GetWindow(address) != Space::kShared) {
    Fail(warp, instruction, lane, Fault::Kind::kIllegalAddress,
         Text("has the address 0x%llx, which isn't one of shared memory", static_cast<unsigned long long>(address)));
  }
  return address - kSharedWindow;
}

}  // namespace

void Block::At(uint32_t rank, uint32_t* out) const {
  if (launch->cooperative) return At(rank, 0, out);  // of clusters of one block
  At(linear, rank, out);
}

void Block::At(uint64_t cluster, uint32_t rank, uint32_t* out) const {
  const Launch& as = *launch;
  uint32_t in_cluster = rank;
  for (int i = 0; i < 3; ++i) {
    const uint32_t clusters = as.grid[i] / as.cluster[i];
    out[i] = static_cast<uint32_t>(cluster % clusters) * as.cluster[i] + in_cluster % as.cluster[i];
    cluster /= clusters;
    in_cluster /= as.cluster[i];
  }
}

uint32_t RunTogether(const Launch& launch) {
  return launch.cooperative ? launch.grid[0] * launch.grid[1] * launch.grid[2] : launch.cluster_blocks();
}

uint32_t ClusterRank(const Warp& warp) { return warp.block->launch->cooperative ? 0 : warp.rank; }

uint64_t GetSharedBase(const Warp& warp, const Instruction& instruction, uint32_t lane, uint64_t address) {
  const Block& block = *warp.block;
  const uint32_t rank = GetCluster(warp) + NeedRank(warp, instruction, lane, address / kRankUnit - 1);
  bool runs = false;
  for (const Warp& warp_there : block.GetWarps(rank)) runs = runs || warp_there.live() != 0;
  const Warp& there = block.GetWarps(rank)[0];
  if (!runs) {
    Fail(warp, instruction, lane, Fault::Kind::kIllegalAddress,
         Text("has the address 0x%llx in the shared memory of ", static_cast<unsigned long long>(address)) +
             BlockText(there) +
             ", which has ended: a block has to wait (barrier.cluster) until others have used its memory");
  }
  return there.shared_base;
}

void ArriveAtCluster(Warp* warp, const Instruction& instruction, uint32_t mask) {
  NeedAligned(*warp, instruction, mask);
  const uint32_t again = mask & (warp->cluster_arrived | warp->cluster_passed);
  if (again != 0) {
    Fail(*warp, instruction, First(again), Fault::Kind::kDeadlock,
         "arrives a second time, and has yet to wait for the first (barrier.cluster.wait)");
  }
  if (warp->cluster_arrived == 0) ++warp->block->cluster_arrivals;
  warp->cluster_arrived |= mask;
  ++warp->effects;
  RaceShadow& races = warp->block->races;
  if ((instruction.flags & kRelaxed) != 0) {
    // Orders the mbarriers that were made before a fence.mbarrier_init, and nothing else.
    return races.ArriveUntil(*warp, races.ClusterBarrier(GetCluster(*warp)), warp->init_fenced);
  }
  races.Arrive(*warp, races.ClusterBarrier(GetCluster(*warp)));
  ++warp->clock;
}

bool PassCluster(Warp* warp, const Instruction& instruction, uint32_t mask) {
  NeedAligned(*warp, instruction, mask);
  const uint32_t never = mask & ~(warp->cluster_arrived | warp->cluster_passed);
  if (never != 0) {
    Fail(*warp, instruction, First(never), Fault::Kind::kDeadlock,
         "waits for the cluster without having arrived (barrier.cluster.arrive)");
  }
  if ((mask & ~warp->cluster_passed) != 0) return false;
  Waited(warp, mask);
  return true;
}

bool OpenCluster(Block* block) {
  const uint32_t blocks = block->launch->cluster_blocks();
  const size_t warps = size_t{block->block_warps} * blocks;  // of a cluster
  bool opened = false;
  for (size_t first = 0; first < block->warps.size(); first += warps) {
    uint32_t arrived = 0, missing = 0;
    for (size_t w = first; w < first + warps; ++w) {
      arrived |= block->warps[w].cluster_arrived;
      missing |= block->warps[w].live() & ~block->warps[w].cluster_arrived;
    }
    if (arrived == 0 || missing != 0) continue;
    opened = true;
    block->races.OpenCluster(GetCluster(block->warps[first]));
    for (size_t w = first; w < first + warps; ++w) {
      Warp& warp = block->warps[w];
      if (warp.cluster_arrived != 0) --block->cluster_arrivals;
      warp.cluster_passed |= warp.cluster_arrived;
      warp.cluster_arrived = 0;
      for (uint32_t g = 0; g < warp.group_count; ++g) {
        Group& group = warp.groups[g];
        if (group.state != Group::State::kClusterWait) continue;
        Waited(&warp, group.mask);
        group.state = Group::State::kReady;
        ++group.pc;
      }
    }
  }
  return opened;
}

// A rank that the cluster doesn't have is an error where the address is used: compilers compute addresses before they know whether a
// lane needs its own.
void RunMapRank(Warp& warp, const Instruction& i, uint32_t mask) {
  constexpr uint32_t kLastRank = 254;  // of an address, and more than a cluster has
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const uint32_t l = First(left);
    const uint64_t rank = std::min(reinterpret_cast<const uint32_t*>(warp.registers + i.op[2])[l], kLastRank);
    const uint64_t mapped = InWindow(warp, i, l) % kRankUnit + (rank + 1) * kRankUnit;
    unsigned char* const out = warp.registers + i.op[0];
    if (i.wide) {
      reinterpret_cast<uint64_t*>(out)[l] = mapped + (i.space == Space::kGeneric ? kSharedWindow : 0);
    } else {
      reinterpret_cast<uint32_t*>(out)[l] = static_cast<uint32_t>(mapped);
    }
  }
}

void RunGetRank(Warp& warp, const Instruction& i, uint32_t mask) {
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const uint32_t l = First(left);
    const uint64_t unit = InWindow(warp, i, l) / kRankUnit;
    reinterpret_cast<uint32_t*>(warp.registers + i.op[0])[l] =
        unit == 0 ? ClusterRank(warp) : NeedRank(warp, i, l, unit - 1);
  }
}

}  // namespace kernpack::emulator
