// A warp's lanes, in groups that are at one place. The group that is furthest behind runs, so that those who parted meet again;
// one that keeps looping lets the others run from time to time, as a lane that spins for another of its warp must.
#include <algorithm>
#include <bit>

#include "exec/block.h"
#include "exec/clusters.h"
#include "exec/fault.h"
#include "exec/warp.h"
#include "exec/taint.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kSlice = 2048;  // jumps back before others get their turn

uint32_t WordAt(const Warp& warp, uint32_t slot, uint32_t lane) {
  return reinterpret_cast<const uint32_t*>(warp.registers + slot)[lane];
}

void Remove(Warp* warp, uint32_t index) { warp->groups[index] = warp->groups[--warp->group_count]; }

// Joins groups that wait, or are ready, at the same place.
void Merge(Warp* warp) {
  for (uint32_t a = 0; a < warp->group_count; ++a) {
    for (uint32_t b = a + 1; b < warp->group_count;) {
      const Group& one = warp->groups[a];
      const Group& other = warp->groups[b];
      if (one.pc == other.pc && one.state == other.state && one.barrier == other.barrier &&
          one.members == other.members) {
        warp->groups[a].mask |= other.mask;
        Remove(warp, b);
      } else {
        ++b;
      }
    }
  }
}

// The ready group with the least place; behind `after`, when that is not kLanes, the next one in turn.
uint32_t Pick(const Warp& warp, uint32_t after) {
  uint32_t best = kLanes;
  for (uint32_t i = 0; i < warp.group_count; ++i) {
    const Group& group = warp.groups[i];
    if (group.state != Group::State::kReady || i == after) continue;
    if (best == kLanes || group.pc < warp.groups[best].pc) best = i;
  }
  return best == kLanes && after != kLanes && after < warp.group_count &&
                 warp.groups[after].state == Group::State::kReady
             ? after
             : best;
}

uint32_t Limit(const Warp& warp, uint32_t running) {
  uint32_t limit = ~0U;
  for (uint32_t i = 0; i < warp.group_count; ++i) {
    const Group& group = warp.groups[i];
    if (i != running && group.state == Group::State::kReady && group.pc > warp.groups[running].pc)
      limit = std::min(limit, group.pc);
  }
  return limit;
}

// Who runs an instruction together: the lanes of `mask` that name the members which the first of them names, as the tiles of a warp do.
struct Together {
  uint32_t lanes;
  uint32_t members;
};

Together FirstTogether(const Warp& warp, const Instruction& instruction, uint32_t mask) {
  if (instruction.op[5] == kNoOperand) return {mask, warp.threads};
  Together out{0, WordAt(warp, instruction.op[5], First(mask))};
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const uint32_t lane = First(left), members = WordAt(warp, instruction.op[5], lane);
    if (members == out.members) out.lanes |= 1U << lane;
    if ((members >> lane & 1) == 0) {
      Fail(warp, instruction, lane, Fault::Kind::kDivergentBarrier,
           Text("is run by a lane that its member mask 0x%08x leaves out", members));
    }
  }
  return out;
}

// Lets go whom bar.warp.sync kept, when all of the mask are there.
bool ReleaseSync(Warp* warp) {
  for (uint32_t i = 0; i < warp->group_count; ++i) {
    if (warp->groups[i].state != Group::State::kWarpSync) continue;
    const uint32_t members = warp->groups[i].members & warp->live();
    uint32_t there = 0;
    for (uint32_t j = 0; j < warp->group_count; ++j) {
      if (warp->groups[j].state == Group::State::kWarpSync) there |= warp->groups[j].mask;
    }
    if ((there & members) != members) continue;
    ++warp->clock;
    for (uint32_t j = 0; j < warp->group_count; ++j) {
      Group& group = warp->groups[j];
      if (group.state != Group::State::kWarpSync || (group.mask & members) == 0) continue;
      group.state = Group::State::kReady;
      group.members = 0;
      ++group.pc;
    }
    return true;
  }
  return false;
}

bool RunCollective(Warp* warp) {
  for (uint32_t i = 0; i < warp->group_count; ++i) {
    Group& group = warp->groups[i];
    const uint32_t members = group.members & warp->live();
    if (group.state != Group::State::kCollective || (group.mask & members) != members) continue;
    const Instruction& instruction = warp->block->program->code[group.pc];
    instruction.run(*warp, instruction, group.mask);
    group.state = Group::State::kReady;
    group.members = 0;
    ++group.pc;
    return true;
  }
  return false;
}

// Nobody is ready, and nobody waits for a barrier of the block: what is waited for never comes.
void CheckStuck(const Warp& warp) {
  for (uint32_t i = 0; i < warp.group_count; ++i) {
    const Group& group = warp.groups[i];
    if (group.state == Group::State::kBarrier || group.state == Group::State::kClusterWait) return;
  }
  for (uint32_t i = 0; i < warp.group_count; ++i) {
    const Group& group = warp.groups[i];
    const Instruction& instruction = warp.block->program->code[group.pc];
    Fail(warp, instruction, First(group.mask), Fault::Kind::kDeadlock,
         Text("waits for lanes 0x%08x of its warp, but only 0x%08x arrive", group.members & warp.live(), group.mask));
  }
}

class Runner {
 public:
  explicit Runner(Warp* warp)
      : warp_(*warp),
        code_(warp->block->program->code.data()),
        runs_(warp->block->counts == nullptr ? nullptr : warp->block->counts->runs.data()) {}

  // False when the warp's time is over while it could go on.
  bool Run() {
    uint32_t turns = 0;
    uint32_t after = kLanes;
    for (;;) {
      Merge(&warp_);
      const uint32_t running = Pick(warp_, after);
      after = kLanes;
      if (running == kLanes) {
        if (ReleaseSync(&warp_) || RunCollective(&warp_)) continue;
        CheckStuck(warp_);
        return true;
      }
      const End end = RunGroup(running);
      if (end == End::kSlice) {
        if (++turns == 8 || (warp_.spins && warp_.group_count == 1)) {
          warp_.spins = false;
          return false;
        }
        warp_.spins = false;
        after = running;
      }
    }
  }

 private:
  enum class End : uint8_t { kMeet, kGone, kParked, kSlice };
  Warp& warp_;
  const Instruction* code_;
  Runs* runs_;  // NULL where nothing is counted

  End Park(Group* group, uint32_t pc, Group::State state, uint32_t barrier, uint32_t members) {
    group->pc = pc;
    group->state = state;
    group->barrier = barrier;
    group->members = members;
    return End::kParked;
  }

  // The other warps get their turn, then the instruction is tried again. Only what succeeds is counted.
  End TryAgain(Group* group, uint32_t pc, uint32_t mask, uint64_t* instructions) {
    group->pc = pc;
    warp_.spins = true;
    --*instructions;
    if (runs_ != nullptr) --runs_[pc].warps, runs_[pc].threads -= static_cast<uint32_t>(std::popcount(mask));
    return End::kSlice;
  }

  // Lanes of the group that go elsewhere.
  void Split(uint32_t running, uint32_t taken, uint32_t target) {
    warp_.groups[running].mask &= ~taken;
    Group& made = warp_.groups[warp_.group_count++];
    made = Group();
    made.pc = target;
    made.mask = taken;
  }

  End RunGroup(uint32_t running) {
    Group& group = warp_.groups[running];
    uint32_t pc = group.pc;
    uint32_t limit = Limit(warp_, running);
    uint32_t slice = kSlice;
    uint64_t instructions = 0, lanes = 0;
    const auto leave = [&](End end) {
      warp_.instructions += instructions;
      warp_.lanes_run += lanes;
      return end;
    };
    for (;;) {
      if (pc >= limit) {
        group.pc = pc;
        return leave(End::kMeet);
      }
      const Instruction& i = code_[pc];
      uint32_t mask = group.mask;
      if (i.guard != kNoOperand) {
        const uint32_t guard = *reinterpret_cast<const uint32_t*>(warp_.registers + i.guard);
        if (!warp_.taint.empty()) NeedUntainted(warp_, i, i.guard, group.mask, "is decided by");
        mask &= i.guard_negated ? ~guard : guard;
      }
      ++instructions;
      lanes += mask == ~0U ? kLanes : static_cast<uint32_t>(std::popcount(mask));
      if (runs_ != nullptr && mask != 0) {
        ++runs_[pc].warps;
        runs_[pc].threads += static_cast<uint32_t>(std::popcount(mask));
      }
      switch (i.flow) {
        case Flow::kPlain:
          if (mask != 0) {
            if ((i.flags & kGroupRegisters) != 0 && !TouchGroupRegisters(&warp_, i, mask)) {
              lanes -= static_cast<uint32_t>(std::popcount(mask));
              return leave(TryAgain(&group, pc, mask, &instructions));
            }
            warp_.instructions += instructions;
            instructions = 0;
            i.run(warp_, i, mask);
            if (!warp_.taint.empty()) CarryTaint(warp_, i, mask);
          }
          ++pc;
          continue;
        case Flow::kBranch: {
          const uint32_t target = i.target;
          if (mask == group.mask) {
            if (target <= pc && (--slice == 0 || warp_.spins)) {
              group.pc = target;
              return leave(End::kSlice);
            }
            if (target <= pc && limit != ~0U) {
              group.pc = target;
              limit = Limit(warp_, running);
            }
            pc = target;
            continue;
          }
          if (mask == 0) {
            ++pc;
            continue;
          }
          Split(running, mask, target);
          group.pc = pc + 1;
          return leave(End::kMeet);
        }
        case Flow::kBranchIndexed: {
          const uint32_t* targets = warp_.block->program->extra.data() + i.extra;
          group.pc = pc + 1;
          for (uint32_t left = mask; left != 0;) {
            const uint32_t index = WordAt(warp_, i.op[0], First(left));
            if (index >= i.target)
              Fail(warp_, i, First(left), Fault::Kind::kTrap,
                   Text("jumps to entry %u of a table of %u", index, i.target));
            uint32_t taken = 0;
            for (uint32_t l = 0; l < kLanes; ++l)
              taken |= uint32_t((left >> l & 1) != 0 && WordAt(warp_, i.op[0], l) == index) << l;
            left &= ~taken;
            Split(running, taken, targets[index]);
          }
          if (group.mask == 0) Remove(&warp_, running);
          return leave(End::kMeet);
        }
        case Flow::kExit:
          warp_.exited |= mask;
          group.mask &= ~mask;
          group.pc = pc + 1;
          if (group.mask == 0) Remove(&warp_, running);
          return leave(End::kGone);
        case Flow::kCollective:
        case Flow::kWarpSync: {
          if (mask == 0) {
            ++pc;
            continue;
          }
          const Together together = FirstTogether(warp_, i, mask);
          const uint32_t rest = group.mask & ~together.lanes;
          const bool all_here = together.lanes == (together.members & warp_.live());
          // Where others go: to the instruction itself when they name other members, else on, as its guard is false for them.
          if (rest != 0) Split(running, rest, together.lanes == mask ? pc + 1 : pc);
          if (!all_here) {
            const bool syncs = i.flow == Flow::kWarpSync;
            return leave(
                Park(&group, pc, syncs ? Group::State::kWarpSync : Group::State::kCollective, 0, together.members));
          }
          if (i.flow == Flow::kWarpSync) {
            ++warp_.clock;
          } else {
            warp_.instructions += instructions;
            instructions = 0;
            // A collective copies no register.
            if ((i.flags & kGroupRegisters) != 0) TouchGroupRegisters(&warp_, i, together.lanes);
            i.run(warp_, i, together.lanes);
          }
          ++pc;
          if (rest == 0) continue;
          group.pc = pc;
          return leave(End::kMeet);
        }
        case Flow::kArrive:
        case Flow::kBarrier: {
          if (mask == 0) {
            ++pc;
            continue;
          }
          const uint32_t barrier = WordAt(warp_, i.op[0], First(mask));
          if (barrier >= kBarriers)
            Fail(warp_, i, First(mask), Fault::Kind::kTrap, Text("names barrier %u; there are 0 to 15", barrier));
          const uint32_t threads = i.op[1] == kNoOperand ? 0 : WordAt(warp_, i.op[1], First(mask));
          if (threads % kLanes != 0)
            Fail(warp_, i, First(mask), Fault::Kind::kTrap,
                 Text("waits for %u threads; expected a multiple of %u, as whole warps arrive", threads, kLanes));
          if (i.flow == Flow::kArrive) {
            const uint32_t index = Block::Barrier(warp_.rank, barrier);
            warp_.block->arrivals[index].threads += kLanes;
            warp_.block->arrivals[index].expected = threads;
            warp_.block->races.Arrive(warp_, index);
            ++warp_.clock;
            ++warp_.effects;
            ++pc;
            continue;
          }
          if (mask != group.mask) {
            group.pc = pc + 1;
            Split(running, mask, pc);
            Park(&warp_.groups[warp_.group_count - 1], pc, Group::State::kBarrier, barrier, 0);
            return leave(End::kParked);
          }
          return leave(Park(&group, pc, Group::State::kBarrier, barrier, 0));
        }
        case Flow::kGroupWait:
          if (mask == 0 || WaitForProducts(&warp_, i, mask)) {
            ++pc;
            continue;
          }
          lanes -= kLanes;
          return leave(TryAgain(&group, pc, mask, &instructions));
        case Flow::kClusterArrive:
          if (mask != 0) ArriveAtCluster(&warp_, i, mask);
          ++pc;
          continue;
        case Flow::kClusterWait:
          if (mask == 0 || PassCluster(&warp_, i, mask)) {
            ++pc;
            continue;
          }
          if (mask != group.mask) {
            group.pc = pc + 1;
            Split(running, mask, pc);
            Park(&warp_.groups[warp_.group_count - 1], pc, Group::State::kClusterWait, 0, 0);
            return leave(End::kParked);
          }
          return leave(Park(&group, pc, Group::State::kClusterWait, 0, 0));
      }
    }
  }
};

}  // namespace

bool RunWarp(Warp* warp) {
  if (IsOne(warp->threads) && RunThread(warp) == Alone::kTimeIsOver) return false;
  return Runner(warp).Run();
}

}  // namespace kernpack::emulator
