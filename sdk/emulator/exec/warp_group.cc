#include "exec/warp_group.h"

#include <algorithm>

#include "exec/access.h"
#include "exec/fault.h"
#include "exec/group_operand.h"
#include "exec/matrix.h"
#include "exec/warp.h"

namespace kernpack::emulator {
namespace {

uint32_t SlotNumber(uint32_t slot) { return slot / GroupRegisters::kSlotBytes; }

void NeedWholeWarp(const Warp& warp, const Instruction& i, uint32_t mask) {
  if (mask == ~0U) return;
  Fail(warp, i, First(mask), Fault::Kind::kDivergentBarrier,
       Text("needs all 32 lanes of the warp, and only 0x%08x run it", mask));
}

// All four warps of the warpgroup, or a Fault.
void NeedWarpGroup(const Warp& warp, const Instruction& i) {
  const Block& block = *warp.block;
  const uint32_t first = warp.in_block / kGroupWarps * kGroupWarps;
  for (uint32_t w = first; w < first + kGroupWarps; ++w) {
    if (w < block.block_warps && block.GetWarps(warp.rank)[w].live() == ~0U) continue;
    Fail(warp, i, 0, Fault::Kind::kDivergentBarrier,
         Text("needs the warps %u to %u of the block, a warpgroup, and warp %u ", first, first + kGroupWarps - 1, w) +
             (w < block.block_warps ? "has threads that have ended or never were" : "doesn't exist"));
  }
}

uint64_t GetDescriptor(const Warp& warp, const Instruction& i, uint32_t operand) {
  if (i.op[operand] == kNoOperand) return 0;
  const auto* const values = reinterpret_cast<const uint64_t*>(warp.registers + i.op[operand]);
  for (uint32_t l = 1; l < kLanes; ++l) {
    if (values[l] == values[0]) continue;
    Fail(warp, i, l, Fault::Kind::kIllegalAddress,
         Text("has the descriptor 0x%llx, and thread 0 of the warp has 0x%llx: all threads have to give the same",
              static_cast<unsigned long long>(values[l]), static_cast<unsigned long long>(values[0])));
  }
  if (GroupOperand::GetBaseOffset(values[0]) != 0) {
    Fail(warp, i, 0, Fault::Kind::kIllegalAddress,
         Text("has the descriptor 0x%llx with a base offset, which isn't emulated: let the matrix begin at a multiple "
              "of 8 rows of the swizzle's width",
              static_cast<unsigned long long>(values[0])));
  }
  return values[0];
}

GroupOperands GetGroupOperands(const Warp& warp, const Instruction& i) {
  GroupOperands out{&i, GetDescriptor(warp, i, 1), GetDescriptor(warp, i, 2), false};
  const uint32_t keeps = *reinterpret_cast<const uint32_t*>(warp.registers + i.op[3]);
  if (keeps != 0 && keeps != ~0U) {
    Fail(warp, i, 0, Fault::Kind::kDivergentBarrier,
         Text("has a scale-d that holds for the lanes 0x%08x alone: all threads have to give the same", keeps));
  }
  out.keeps = (keeps != 0) != ((i.flags & kNegateC) != 0);
  return out;
}

// The registers of D and of A.
struct UsedRegisters {
  const uint32_t* sums;
  uint32_t sum_count;
  const uint32_t* factors;
  uint32_t factor_count;
};
UsedRegisters GetRegisters(const Warp& warp, const Instruction& i) {
  const uint32_t* const extra = warp.block->program->extra.data() + i.extra;
  const uint32_t count = extra[0] / 2 / PerRegister(static_cast<Element>(extra[4]));
  return {extra + 6, count, extra + 6 + count, (extra[5] & kAInRegisters) != 0 ? 4U : 0U};
}

void UseRegisters(Warp* warp, const Instruction& i, GroupProduct* product) {
  GroupRegisters& state = warp->group_registers;
  const UsedRegisters used = GetRegisters(*warp, i);
  if (state.fence == 0)
    Fail(*warp, i, 0, Fault::Kind::kRace, "needs a wgmma.fence before the first wgmma.mma_async of a warpgroup");
  const auto need_fenced = [&](uint32_t slot, const char* what) {
    if (state.written[SlotNumber(slot)] != state.fence + 1) return;
    Fail(*warp, i, 0, Fault::Kind::kRace,
         Text("uses a register of %s that was written after the last wgmma.fence: a wgmma.fence has to come in between",
              what));
  };
  std::vector<uint32_t>& registers = product->registers[warp->in_block % kGroupWarps];
  for (uint32_t r = 0; r < used.sum_count; ++r) {
    need_fenced(used.sums[r], "D");
    ++state.sums[SlotNumber(used.sums[r])];
    registers.push_back(used.sums[r]);
  }
  for (uint32_t r = 0; r < used.factor_count; ++r) {
    need_fenced(used.factors[r], "A");
    ++state.factors[SlotNumber(used.factors[r])];
  }
  ++state.in_flight;
}

void ReleaseRegisters(Warp* warp, const GroupProduct& product) {
  GroupRegisters& state = warp->group_registers;
  for (const uint32_t slot : product.registers[warp->in_block % kGroupWarps]) --state.sums[SlotNumber(slot)];
  const UsedRegisters used = GetRegisters(*warp, *product.operands.instruction);
  for (uint32_t r = 0; r < used.factor_count; ++r) --state.factors[SlotNumber(used.factors[r])];
  --state.in_flight;
}

// A product that uses the register, which there is.
GroupProduct& FindProduct(const Warp& warp, uint32_t slot) {
  WarpGroup& group = GroupOf(warp);
  const uint32_t member = warp.in_block % kGroupWarps;
  for (uint64_t n = group.members[member].ended; n < group.members[member].issued; ++n) {
    GroupProduct& product = group.products[n - group.first];
    const UsedRegisters used = GetRegisters(warp, *product.operands.instruction);
    const std::vector<uint32_t>& sums = product.registers[member];
    if (std::find(sums.begin(), sums.end(), slot) != sums.end() ||
        std::find(used.factors, used.factors + used.factor_count, slot) != used.factors + used.factor_count) {
      return product;
    }
  }
  return group.products.front();
}

[[noreturn]] void InUse(const Warp& warp, const Instruction& i, uint32_t mask, uint32_t slot, bool writes) {
  const GroupProduct& product = FindProduct(warp, slot);
  const Source& source = warp.block->program->sources[product.operands.instruction->statement];
  Fail(warp, i, First(mask), Fault::Kind::kRace,
       Text("%s a register that wgmma at %s may still be using: wgmma.commit_group and wgmma.wait_group "
            "have to come first",
            writes ? "writes" : "reads", SourceText(source).c_str()));
}

}  // namespace

WarpGroup& GroupOf(const Warp& warp) {
  Block& block = *warp.block;
  const uint32_t groups = (block.block_warps + kGroupWarps - 1) / kGroupWarps;
  return block.warp_groups[size_t{warp.rank} * groups + warp.in_block / kGroupWarps];
}

void RunGroupMultiply(Warp& warp, const Instruction& i, uint32_t mask) {
  NeedWholeWarp(warp, i, mask);
  NeedWarpGroup(warp, i);
  const GroupOperands operands = GetGroupOperands(warp, i);
  WarpGroup& group = GroupOf(warp);
  WarpGroup::Member& member = group.members[warp.in_block % kGroupWarps];
  const uint64_t index = member.issued - group.first;
  if (index == group.products.size()) group.products.emplace_back().operands = operands;
  GroupProduct& product = group.products[index];
  if (product.operands != operands) {
    const Source& other = warp.block->program->sources[product.operands.instruction->statement];
    Fail(warp, i, 0, Fault::Kind::kDivergentBarrier,
         Text("isn't the product that another warp of the warpgroup has issued at %s: all four have to "
              "issue the same, with the same descriptors and scale-d",
              SourceText(other).c_str()));
  }
  UseRegisters(&warp, i, &product);
  ++member.issued;
  product.issued |= 1U << warp.in_block % kGroupWarps;
  product.issue_clocks[warp.in_block % kGroupWarps] = warp.clock;
  product.clocks.resize(warp.block->races.clocks());
  warp.block->races.HandOver(warp, product.clocks.data());
  if (product.issued == (1U << kGroupWarps) - 1) ComputeProduct(&warp, &product);
  ++warp.clock;
  ++warp.effects;
}

void RunGroupFence(Warp& warp, const Instruction& i, uint32_t mask) {
  NeedWholeWarp(warp, i, mask);
  ++warp.group_registers.fence;
}

void RunGroupCommit(Warp& warp, const Instruction& i, uint32_t mask) {
  NeedWholeWarp(warp, i, mask);
  WarpGroup::Member& member = GroupOf(warp).members[warp.in_block % kGroupWarps];
  member.commits.push_back(member.issued);
}

bool WaitForProducts(Warp* warp, const Instruction& i, uint32_t mask) {
  NeedWholeWarp(*warp, i, mask);
  WarpGroup& group = GroupOf(*warp);
  WarpGroup::Member& member = group.members[warp->in_block % kGroupWarps];
  const auto leaves = static_cast<size_t>(i.displacement);
  if (member.commits.size() <= leaves) return true;
  const size_t ending = member.commits.size() - leaves;
  const uint64_t end = std::max(member.commits[ending - 1], member.ended);
  for (uint64_t n = member.ended; n < end; ++n) {
    if (group.products[n - group.first].computed) continue;
    warp->wait = {&i, WaitPlace::kProducts, 0, 0, false, true};
    return false;
  }
  for (; member.ended < end; ++member.ended) {
    GroupProduct& product = group.products[member.ended - group.first];
    ReleaseRegisters(warp, product);
    warp->block->races.Take(*warp, product.clocks.data());
    if (product.reads) warp->block->reads.End(*product.reads);
    product.reads.reset();
  }
  member.commits.erase(member.commits.begin(), member.commits.begin() + static_cast<ptrdiff_t>(ending));
  while (!group.products.empty() && std::all_of(std::begin(group.members), std::end(group.members),
                                                [&](const auto& of) { return of.ended > group.first; })) {
    group.products.pop_front();
    ++group.first;
  }
  ++warp->effects;
  return true;
}

bool TouchGroupRegisters(Warp* warp, const Instruction& i, uint32_t mask) {
  GroupRegisters& state = warp->group_registers;
  const Program& program = *warp->block->program;
  const Program::Named& named = program.named[i.statement];
  // A copy of a register in flight is in flight itself: what it holds isn't looked at.
  const bool moves = program.sources[i.statement].op.starts_with("mov.") && named.count == 2;
  const uint32_t* const slots = program.named_slots.data() + named.begin;
  if (state.in_flight != 0 && moves && state.sums[SlotNumber(slots[1])] != 0) {
    GroupProduct& product = FindProduct(*warp, slots[1]);
    if (!product.computed) {
      warp->wait = {&i, WaitPlace::kProducts, First(mask), 0, false, true};
      return false;
    }
    if (state.sums[SlotNumber(slots[0])] == 0) {
      product.registers[warp->in_block % kGroupWarps].push_back(slots[0]);
      ++state.sums[SlotNumber(slots[0])];
    }
    return true;
  }
  for (uint32_t n = 0; n < named.count; ++n) {
    const bool writes = n < named.written;
    const uint32_t slot = SlotNumber(slots[n]);
    if (state.in_flight != 0 && (state.sums[slot] != 0 || (writes && state.factors[slot] != 0)))
      InUse(*warp, i, mask, slots[n], writes);
    if (writes) state.written[slot] = state.fence + 1;
  }
  return true;
}

void RunSetMaxRegisters(Warp& warp, const Instruction& i, uint32_t mask) {
  if (mask != warp.threads) NeedWholeWarp(warp, i, mask);
  auto& changes = warp.block->register_changes;
  changes.resize(warp.block->warps.size());
  changes[warp.index].push_back(&i);
}

void NeedSameRegisters(const Block& block) {
  if (block.register_changes.empty()) return;
  const auto differ = [](const Instruction* a, const Instruction* b) {
    return a->count != b->count || a->wide != b->wide;
  };
  for (const Warp& warp : block.warps) {
    const Warp& first = block.GetWarps(warp.rank)[warp.in_block / kGroupWarps * kGroupWarps];
    const auto &own = block.register_changes[warp.index], &others = block.register_changes[first.index];
    const size_t both = std::min(own.size(), others.size());
    for (size_t c = 0; c < std::max(own.size(), others.size()); ++c) {
      if (c < both && !differ(own[c], others[c])) continue;
      const bool of_first = c >= own.size();
      const Warp &did = of_first ? first : warp, &missed = of_first ? warp : first;
      Fail(did, of_first ? *others[c] : *own[c], First(did.threads), Fault::Kind::kDivergentBarrier,
           Text("is for whole warpgroups, and warp %u of this one, which has ended, never ran it", missed.in_block));
    }
  }
}

}  // namespace kernpack::emulator
