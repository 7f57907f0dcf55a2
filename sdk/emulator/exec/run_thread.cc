#include "exec/warp.h"

#include "exec/block.h"
#include "exec/taint.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kJumpsBack = 1U << 14;  // before the block looks at the clock

}  // namespace

Alone RunThread(Warp* warp) {
  const uint32_t mask = warp->threads;
  if (warp->block->counts != nullptr || warp->group_count != 1 || !warp->taint.empty()) return Alone::kNeedsGroups;
  Group& group = warp->groups[0];
  if (group.state != Group::State::kReady) return Alone::kNeedsGroups;
  const Instruction* const code = warp->block->program->code.data();
  uint32_t jumps = 0;
  for (uint32_t pc = group.pc;;) {
    const Instruction& i = code[pc];
    if (i.flow != Flow::kPlain && i.flow != Flow::kBranch) {
      group.pc = pc;
      return Alone::kNeedsGroups;
    }
    ++warp->instructions;
    if (i.guard != kNoOperand) {
      const bool guard = (*reinterpret_cast<const uint32_t*>(warp->registers + i.guard) & mask) != 0;
      if (guard == i.guard_negated) {
        ++pc;
        continue;
      }
    }
    ++warp->lanes_run;
    if (i.flow == Flow::kPlain) {
      i.run(*warp, i, mask);
      ++pc;
      if (!warp->taint.empty()) {
        CarryTaint(*warp, i, mask);
        group.pc = pc;
        return Alone::kNeedsGroups;
      }
    } else {
      const bool back = i.target <= pc;
      pc = i.target;
      if (back && (++jumps == kJumpsBack || warp->spins)) {
        warp->spins = false;
        group.pc = pc;
        return Alone::kTimeIsOver;
      }
    }
  }
}

}  // namespace kernpack::emulator
