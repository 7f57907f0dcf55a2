#include "exec/bulk.h"

#include <algorithm>
#include <cstring>

#include "exec/access.h"
#include "exec/counts.h"
#include "exec/fault.h"
#include "exec/warp.h"
#include "exec/memory_ops.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kUnit = 16;  // bytes, of addresses and sizes

uint32_t Word(const Warp& warp, uint32_t slot, uint32_t lane) {
  return reinterpret_cast<const uint32_t*>(warp.registers + slot)[lane];
}

// One lane's address, in the space.
Access LocateOne(Warp& warp, const Instruction& i, uint32_t lane, AccessKind kind, uint32_t bytes,
                 uint32_t align = kUnit) {
  uint64_t addresses[kLanes];
  Addresses(warp, i, addresses);
  Access access;
  access.kind = kind;
  access.bytes = bytes;
  access.align = align;
  uint32_t one = 1U << lane;
  Locate(warp, i, addresses, &one, &access);
  return access;
}

// The instruction as one whose address is its source, or its mbarrier. Program::extra has, for each, the displacement and the bytes of
// an address.
Instruction Other(const Warp& warp, const Instruction& i, Space space, uint32_t operand, uint32_t index) {
  const uint32_t* extra = warp.block->program->extra.data() + i.extra + 2 * index;
  Instruction out = i;
  out.space = space;
  out.op[0] = i.op[operand];
  out.displacement = static_cast<int32_t>(extra[0]);
  out.op[7] = extra[1];
  return out;
}

// As accesses of whole warps, 16 bytes a thread.
void CountBytes(const Warp& warp, const Instruction& i, uint32_t lane, const Access& all) {
  if (warp.block->counts == nullptr) return;
  Access part;
  part.space = all.space;
  part.kind = all.kind;
  part.bytes = kUnit;
  for (uint32_t offset = 0; offset < all.bytes; offset += kUnit * kLanes) {
    const uint32_t lanes = std::min((all.bytes - offset) / kUnit, kLanes);
    part.mask = lanes == kLanes ? ~0U : (1U << lanes) - 1;
    for (uint32_t l = 0; l < lanes; ++l) part.address[l] = all.address[lane] + offset + l * kUnit;
    CountAccess(warp, i, part);
  }
}

void Begin(Warp& warp, const Instruction& i, uint32_t lane, uint32_t bytes, const Access& source) {
  Block& block = *warp.block;
  const Access barrier = LocateOne(warp, Other(warp, i, Space::kShared, 3, 1), lane, AccessKind::kWrite, 8, 8);
  if (block.mbarriers.count(barrier.address[lane]) == 0) {
    Fail(warp, i, lane, Fault::Kind::kIllegalAddress,
         "names memory that isn't an mbarrier: no mbarrier.init made one there, or it has been invalidated");
  }
  const Access to = LocateOne(warp, i, lane, AccessKind::kWrite, bytes);
  if (to.space != Space::kShared) {
    Fail(warp, i, lane, Fault::Kind::kIllegalAddress, "has a destination outside of shared memory");
  }
  CountBytes(warp, i, lane, to);
  if (RacesChecked(warp, to.space)) CheckRaces(warp, i, to, lane, false);
  Bulk& bulk = block.bulks.emplace_back();
  bulk.copy = Copy{lane, 0, i.statement, bytes, bytes, to.address[lane], source.host[lane], warp.instructions};
  bulk.warp = warp.index;
  bulk.barrier = barrier.address[lane];
  bulk.clocks.resize(block.races.clocks());
  block.races.HandOver(warp, bulk.clocks.data());
  ++block.copies_under_way;
  SetUnderWay(&block, bulk.copy, 1);
}

// Out of shared memory. It's done at once, the latest a program can rely on: it must not write the source before it has waited.
void Store(Warp& warp, const Instruction& i, uint32_t lane, uint32_t bytes, const Access& source) {
  const Access to = LocateOne(warp, i, lane, AccessKind::kWrite, bytes);
  CountBytes(warp, i, lane, to);
  if (RacesChecked(warp, source.space)) CheckRaces(warp, i, source, lane, false);
  std::memcpy(to.host[lane], source.host[lane], bytes);
  Wrote(warp, i, to);
}

}  // namespace

void RunBulkCopy(Warp& warp, const Instruction& i, uint32_t mask) {
  const bool stores = i.space == Space::kGlobal;
  const Instruction from =
      Other(warp, i, i.variant == 1 ? Space::kGlobal : Space::kShared, 1, 0);  // variant 1: out of global memory
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = First(left);
    const uint32_t bytes = Word(warp, i.op[2], lane);
    if (bytes % kUnit != 0) {
      Fail(warp, i, lane, Fault::Kind::kMisaligned,
           Text("copies %u bytes, which is not a multiple of %u", bytes, kUnit));
    }
    if (bytes == 0) continue;
    const Access source = LocateOne(warp, from, lane, AccessKind::kRead, bytes);
    CountBytes(warp, i, lane, source);
    if (source.unwritten != 0) {
      Fail(warp, i, lane, Fault::Kind::kUninitialised, "copies shared memory that nothing has written");
    }
    if (stores) {
      Store(warp, i, lane, bytes, source);
    } else {
      Begin(warp, i, lane, bytes, source);
    }
  }
  ++warp.clock;
}

bool FinishBulks(Block* block, uint64_t place, MBarrier* barrier) {
  const size_t before = block->bulks.size();
  for (size_t b = 0; b < block->bulks.size();) {
    Bulk& bulk = block->bulks[b];
    if (bulk.barrier != place) {
      ++b;
      continue;
    }
    SetUnderWay(block, bulk.copy, 0);
    --block->copies_under_way;
    std::memcpy(block->shared.data() + bulk.copy.to, bulk.copy.from, bulk.copy.bytes);
    if (block->launch->checks.uninitialised) MarkWritten(block->shared_written.data(), bulk.copy.to, bulk.copy.bytes);
    for (size_t w = 0; w < bulk.clocks.size(); ++w)
      barrier->arriving[w] = std::max(barrier->arriving[w], bulk.clocks[w]);
    barrier->transactions -= bulk.copy.bytes;
    block->bulks.erase(block->bulks.begin() + static_cast<int64_t>(b));
  }
  return block->bulks.size() != before;
}

void NeedNoBulks(const Block& block) {
  if (block.bulks.empty()) return;
  const Bulk& bulk = block.bulks[0];
  Instruction begun;
  begun.statement = bulk.copy.statement;
  Fail(block.warps[bulk.warp], begun, bulk.copy.lane, Fault::Kind::kDeadlock,
       "is a copy that nobody has waited for when the block ends");
}

}  // namespace kernpack::emulator
