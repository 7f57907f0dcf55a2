#include "exec/bulk.h"

#include <algorithm>
#include <cstring>

#include "exec/bulk_access.h"
#include "exec/clusters.h"
#include "exec/counts.h"
#include "exec/fault.h"
#include "exec/global_races.h"
#include "exec/warp.h"
#include "exec/memory_ops.h"

namespace kernpack::emulator {
namespace {

uint32_t Word(const Warp& warp, uint32_t slot, uint32_t lane) {
  return reinterpret_cast<const uint32_t*>(warp.registers + slot)[lane];
}

// Out of shared memory. It's done at once; its source has to stay as it is until the thread has waited.
void Store(Warp& warp, const Instruction& i, uint32_t lane, uint32_t bytes, const Access& source) {
  const Access to = LocateOne(warp, i, lane, AccessKind::kWrite, bytes);
  CountBytes(warp, i, to.space, to.kind, to.address[lane], bytes);
  ReadForBulk(warp, i, lane, source);
  if (GlobalChecked(warp, to.space)) {
    BeginBulkWrite(warp, i, i.count == 0 ? AccessKind::kWrite : AccessKind::kAtomic, to.address[lane], bytes, lane,
                   std::memcmp(to.host[lane], source.host[lane], bytes) == 0);
  }
  if (i.count == 0) {
    std::memcpy(to.host[lane], source.host[lane], bytes);
  } else {
    for (uint32_t at = 0; at < bytes; at += i.count)
      UpdateMemory(i.variant, i.count, to.host[lane] + at, source.host[lane] + at);
  }
  Wrote(warp, i, to);
}

}  // namespace

Access LocateOne(Warp& warp, const Instruction& i, uint32_t lane, AccessKind kind, uint32_t bytes, uint32_t align) {
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

Access LocateInBlock(Warp& warp, const Instruction& address, uint32_t lane, uint32_t rank, uint32_t bytes,
                     uint32_t align) {
  uint64_t all[kLanes];
  Addresses(warp, address, all);
  Instruction of = address;
  of.space = Space::kShared;
  of.flags = kCluster;
  of.op[0] = kNoOperand;
  uint64_t place = all[lane];
  if ((place & kWindowMask) == kSharedWindow) place -= kSharedWindow;
  if (rank != kNoOperand) place = place % kRankUnit + kRankUnit * (rank + 1);
  of.displacement = static_cast<int64_t>(place);
  return LocateOne(warp, of, lane, AccessKind::kWrite, bytes, align);
}

void ForDestinations(const Warp& warp, const Instruction& i, uint32_t lane,
                     const std::function<void(uint32_t rank)>& use) {
  if (i.op[4] == kNoOperand) return use(kNoOperand);
  const uint32_t blocks = Word(warp, i.op[4], lane) & 0xffff;
  if (blocks == 0) Fail(warp, i, lane, Fault::Kind::kIllegalAddress, "has a multicast to no block of the cluster");
  for (uint32_t left = blocks; left != 0; left &= left - 1) use(First(left));
}

Instruction WithAddress(const Warp& warp, const Instruction& i, uint32_t operand, uint32_t index) {
  const uint32_t* extra = warp.block->program->extra.data() + i.extra + kAddressWords * index;
  Instruction out = i;
  out.op[0] = i.op[operand];
  out.displacement = static_cast<int32_t>(extra[0]);
  out.op[7] = extra[1];
  out.space = static_cast<Space>(extra[2]);
  return out;
}

void CountBytes(const Warp& warp, const Instruction& i, Space space, AccessKind kind, uint64_t address, uint32_t bytes,
                uint32_t unit) {
  if (warp.block->counts == nullptr) return;
  Access part;
  part.space = space;
  part.kind = kind;
  part.bytes = unit;
  for (uint32_t offset = 0; offset < bytes; offset += unit * kLanes) {
    const uint32_t lanes = std::min((bytes - offset) / unit, kLanes);
    part.mask = lanes == kLanes ? ~0U : (1U << lanes) - 1;
    for (uint32_t l = 0; l < lanes; ++l) part.address[l] = address + offset + l * unit;
    CountAccess(warp, i, part);
  }
}

void BeginBulk(Warp& warp, const Instruction& i, uint32_t lane, const Access& to, const Access& barrier,
               const uint8_t* from, std::shared_ptr<const std::vector<uint8_t>> box, uint8_t swizzle) {
  Block& block = *warp.block;
  if (block.mbarriers.count(barrier.address[lane]) == 0) {
    Fail(warp, i, lane, Fault::Kind::kIllegalAddress,
         "names memory that isn't an mbarrier: no mbarrier.init made one there, or it has been invalidated");
  }
  if (to.space != Space::kShared)
    Fail(warp, i, lane, Fault::Kind::kIllegalAddress, "has a destination outside of shared memory");
  CountBytes(warp, i, to.space, to.kind, to.address[lane], to.bytes);
  if (RacesChecked(warp, to.space)) {
    CheckRaces(warp, i, to, lane, false);
    block.races.MarkAsync(to.address[lane], to.bytes, swizzle);
  }
  Bulk& bulk = block.bulks.emplace_back();
  bulk.copy = Copy{lane, 0, i.statement, to.bytes, to.bytes, to.address[lane], from, warp.instructions};
  bulk.box = std::move(box);
  bulk.warp = warp.index;
  bulk.barrier = barrier.address[lane];
  bulk.clocks.resize(block.races.clocks());
  block.races.HandOver(warp, bulk.clocks.data());
  ++block.copies_under_way;
  SetUnderWay(&block, bulk.copy, 1);
}

void ReadForBulk(Warp& warp, const Instruction& i, uint32_t lane, const Access& source) {
  if (RacesChecked(warp, source.space)) {
    CheckRaces(warp, i, source, lane, false);
    NeedFenced(warp, i, source.address[lane], source.bytes, lane);
  }
  AsyncRead read{warp.index, lane, i.statement, "cp.async.bulk.wait_group of that thread", {}};
  for (uint64_t at = source.address[lane]; at < source.address[lane] + source.bytes; at += AsyncReads::kUnit)
    read.units.push_back(static_cast<uint32_t>(at / AsyncReads::kUnit));
  warp.bulk_reads.push_back({lane, warp.bulk_groups[lane], warp.block->reads.Begin(std::move(read))});
}

void RunBulkCopy(Warp& warp, const Instruction& i, uint32_t mask) {
  const bool stores = i.space == Space::kGlobal;
  const Instruction from = WithAddress(warp, i, 1, 0);
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = First(left);
    const uint32_t bytes = Word(warp, i.op[2], lane);
    if (bytes % kBulkUnit != 0) {
      Fail(warp, i, lane, Fault::Kind::kMisaligned,
           Text("copies %u bytes, which is not a multiple of %u", bytes, kBulkUnit));
    }
    if (bytes == 0) continue;
    const Access source = LocateOne(warp, from, lane, AccessKind::kRead, bytes);
    CountBytes(warp, i, source.space, source.kind, source.address[lane], bytes);
    if (source.unwritten != 0) {
      Fail(warp, i, lane, Fault::Kind::kUninitialised, "copies shared memory that nothing has written");
    }
    if (stores) {
      Store(warp, i, lane, bytes, source);
    } else {
      if (source.space == Space::kShared && RacesChecked(warp, source.space))
        NeedFenced(warp, i, source.address[lane], bytes, lane);
      if (GlobalChecked(warp, source.space)) CheckGlobal(warp, from, source, 0);
      ForDestinations(warp, i, lane, [&](uint32_t rank) {
        const Access barrier = LocateInBlock(warp, WithAddress(warp, i, 3, 1), lane, rank, 8, 8);
        BeginBulk(warp, i, lane, LocateInBlock(warp, i, lane, rank, bytes, kBulkUnit), barrier, source.host[lane],
                  nullptr);
      });
    }
  }
  ++warp.clock;
  ++warp.effects;
}

void RunCommitBulks(Warp& warp, const Instruction& /*i*/, uint32_t mask) {
  for (uint32_t l = 0; l < kLanes; ++l) warp.bulk_groups[l] += mask >> l & 1;
}

void RunWaitForBulks(Warp& warp, const Instruction& i, uint32_t mask) {
  if (!warp.bulk_writes.empty() && (i.flags & kRelaxed) == 0)
    EndBulkWrites(warp, i, mask, static_cast<uint64_t>(i.displacement));
  const auto stays = [&](const BulkRead& read) {
    return (mask >> read.lane & 1) == 0 || read.group + i.displacement >= warp.bulk_groups[read.lane];
  };
  const auto end = std::stable_partition(warp.bulk_reads.begin(), warp.bulk_reads.end(), stays);
  for (auto read = end; read != warp.bulk_reads.end(); ++read) warp.block->reads.End(read->read);
  warp.bulk_reads.erase(end, warp.bulk_reads.end());
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
    std::memcpy(block->shared.data() + bulk.copy.to, bulk.box != nullptr ? bulk.box->data() : bulk.copy.from,
                bulk.copy.bytes);
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
