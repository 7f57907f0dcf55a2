// Barriers of a block.
#include <bit>

#include "exec/block.h"
#include "exec/clusters.h"
#include "exec/fault.h"
#include "exec/progress.h"
#include "exec/warp.h"

namespace kernpack::emulator {
namespace {

const Instruction& At(const Block& block, const Group& group) { return block.program->code[group.pc]; }

bool IsRunning(const Warp& warp) {
  for (uint32_t g = 0; g < warp.group_count; ++g) {
    if (warp.groups[g].state == Group::State::kReady) return true;
  }
  return false;
}

// The lanes of a warp at a barrier; none while others of the warp are on their way. Throws Fault when its lanes wait in several places,
// where one is asked for.
uint32_t AtBarrier(const Block& block, const Warp& warp, uint32_t barrier) {
  if (IsRunning(warp)) return 0;
  uint32_t there = 0;
  const Group* first = nullptr;
  for (uint32_t g = 0; g < warp.group_count; ++g) {
    const Group& group = warp.groups[g];
    if (group.state != Group::State::kBarrier || group.barrier != barrier) continue;
    there |= group.mask;
    if (first == nullptr) first = &group;
  }
  if (there == 0) return 0;
  for (uint32_t g = 0; g < warp.group_count; ++g) {
    const Group& group = warp.groups[g];
    const Instruction& aligned = At(block, *first);
    if (&group == first || (group.pc == first->pc && group.state == first->state)) continue;
    if (aligned.count == 0 && group.state == Group::State::kBarrier && group.barrier == barrier) continue;
    const Source& other = block.program->sources[At(block, group).statement];
    Fail(warp, aligned, First(first->mask), Fault::Kind::kDivergentBarrier,
         Text("is a barrier that the lanes 0x%08x of the warp have reached, while 0x%08x wait at %s: all "
              "threads of a warp have to reach the same barrier",
              first->mask, group.mask, SourceText(other).c_str()));
  }
  return there;
}

// The barriers at which threads of the block wait, a bit for each.
uint32_t WaitedFor(const Block& block, uint32_t rank) {
  uint32_t out = 0;
  for (const Warp& warp : block.GetWarps(rank)) {
    for (uint32_t g = 0; g < warp.group_count; ++g) {
      if (warp.groups[g].state == Group::State::kBarrier) out |= 1U << warp.groups[g].barrier;
    }
  }
  return out;
}

struct Meeting {
  std::vector<uint32_t> warps;
  uint32_t expected = 0;  // threads; 0: all of the block
  const Group* group = nullptr;
};

Meeting WhoIsAt(const Block& block, uint32_t rank, uint32_t barrier) {
  Meeting meeting;
  for (const Warp& warp : block.GetWarps(rank)) {
    if (warp.live() == 0 || AtBarrier(block, warp, barrier) != warp.live()) continue;
    meeting.warps.push_back(warp.index);
    for (uint32_t g = 0; g < warp.group_count; ++g) {
      const Group& group = warp.groups[g];
      meeting.group = &group;
      const uint32_t count = At(block, group).op[1];
      if (count == kNoOperand) continue;
      meeting.expected = reinterpret_cast<const uint32_t*>(warp.registers + count)[First(group.mask)];
    }
  }
  return meeting;
}

bool IsMet(const Block& block, uint32_t rank, uint32_t barrier, const Meeting& meeting) {
  if (meeting.warps.empty()) return false;
  const Block::Arrivals& others = block.arrivals[Block::Barrier(rank, barrier)];
  const auto arrived = static_cast<uint32_t>(meeting.warps.size()) * kLanes + others.threads;
  const uint32_t expected = meeting.expected != 0 ? meeting.expected : others.expected;
  if (expected != 0) return arrived >= expected;
  for (const Warp& warp : block.GetWarps(rank)) {
    if (warp.live() != 0 && AtBarrier(block, warp, barrier) != warp.live()) return false;
  }
  return true;
}

// bar.red: how many predicates hold, whether all do, whether one does.
void Reduce(Block* block, const Meeting& meeting) {
  uint32_t holding = 0, threads = 0;
  for (const uint32_t w : meeting.warps) {
    const Warp& warp = block->warps[w];
    for (uint32_t g = 0; g < warp.group_count; ++g) {
      const Instruction& instruction = At(*block, warp.groups[g]);
      if (instruction.variant == 0) return;
      uint32_t predicate = *reinterpret_cast<const uint32_t*>(warp.registers + instruction.op[3]);
      if ((instruction.flags & kNegateC) != 0) predicate = ~predicate;
      holding += static_cast<uint32_t>(std::popcount(predicate & warp.groups[g].mask));
      threads += static_cast<uint32_t>(std::popcount(warp.groups[g].mask));
    }
  }
  for (const uint32_t w : meeting.warps) {
    const Warp& warp = block->warps[w];
    for (uint32_t g = 0; g < warp.group_count; ++g) {
      const Instruction& instruction = At(*block, warp.groups[g]);
      auto* out = reinterpret_cast<uint32_t*>(warp.registers + instruction.op[2]);
      if (instruction.variant == 1) {
        for (uint32_t l = 0; l < kLanes; ++l) out[l] = (warp.groups[g].mask >> l & 1) != 0 ? holding : out[l];
      } else {
        const bool holds = instruction.variant == 2 ? holding == threads : holding != 0;
        *out = (*out & ~warp.groups[g].mask) | (holds ? warp.groups[g].mask : 0);
      }
    }
  }
}

void Open(Block* block, uint32_t index, const Meeting& meeting) {
  Reduce(block, meeting);
  block->races.Join(block->warps, meeting.warps, index);
  for (const uint32_t w : meeting.warps) {
    Warp& warp = block->warps[w];
    ++warp.clock;
    for (uint32_t g = 0; g < warp.group_count; ++g) {
      ++warp.groups[g].pc;
      warp.groups[g].state = Group::State::kReady;
      warp.groups[g].barrier = 0;
    }
  }
  block->arrivals[index] = Block::Arrivals();
}

}  // namespace

bool OpenBarriers(Block* block) {
  bool opened = block->cluster_arrivals != 0 && OpenCluster(block);
  for (uint32_t rank = 0; rank < block->blocks; ++rank) {
    for (uint32_t left = WaitedFor(*block, rank); left != 0; left &= left - 1) {
      const uint32_t barrier = First(left);
      const Meeting meeting = WhoIsAt(*block, rank, barrier);
      if (!IsMet(*block, rank, barrier, meeting)) continue;
      Open(block, Block::Barrier(rank, barrier), meeting);
      opened = true;
    }
  }
  return opened;
}

void NeedEnded(const Block& block) {
  for (const Warp& warp : block.warps) {
    if (warp.live() == 0 || warp.group_count == 0) continue;
    const Group& group = warp.groups[0];
    if (group.state == Group::State::kClusterWait) {
      Fail(warp, At(block, group), First(group.mask), Fault::Kind::kDeadlock,
           "waits for threads of its cluster that never arrive: every other thread has ended or waits elsewhere: " +
               WhoWaits(block));
    }
    Fail(warp, At(block, group), First(group.mask), Fault::Kind::kDeadlock,
         Text("waits at barrier %u for threads that never come: every other thread of the block has ended or waits "
              "elsewhere",
              group.barrier) +
             ": " + WhoWaits(block));
  }
}

}  // namespace kernpack::emulator
