#include "exec/tensor_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/bulk_access.h"
#include "exec/fault.h"
#include "exec/taint.h"
#include "exec/warp.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kLeastColumns = 32;

TensorMemory::Member& MemberOf(const Warp& warp) { return GetTensorMemory(warp).members[warp.in_block]; }

void NeedEveryLane(const Warp& warp, const Instruction& i, uint32_t mask) {
  if (mask == ~0U) return;
  Fail(warp, i, First(mask), Fault::Kind::kDivergentBarrier,
       Text("needs all 32 lanes of the warp, and only 0x%08x run it", mask));
}

// An operand that all lanes have to give alike.
uint32_t GetUniform(const Warp& warp, const Instruction& i, uint32_t slot, const char* what) {
  const auto* const words = reinterpret_cast<const uint32_t*>(warp.registers + slot);
  if (!warp.taint.empty()) NeedUntainted(warp, i, slot, ~0U, "takes an operand from");
  for (uint32_t l = 1; l < kLanes; ++l) {
    if (words[l] == words[0]) continue;
    Fail(warp, i, l, Fault::Kind::kIllegalAddress,
         Text("has the %s 0x%x, and thread 0 of the warp has 0x%x: all threads have to give the same", what, words[l],
              words[0]));
  }
  return words[0];
}

void NeedColumnCount(const Warp& warp, const Instruction& i, uint32_t count) {
  if (count >= kLeastColumns && count <= kTensorColumns && std::has_single_bit(count)) return;
  Fail(warp, i, 0, Fault::Kind::kIllegalAddress,
       Text("has %u columns; expected a power of two from %u to %u", count, kLeastColumns, kTensorColumns));
}

bool IsAllocated(const TensorMemory& memory, uint32_t column) {
  return std::any_of(memory.allocations.begin(), memory.allocations.end(),
                     [&](const auto& of) { return column >= of.first && column - of.first < of.count; });
}

const char* TextOf(TensorUse use) {
  switch (use) {
    case TensorUse::kLoad:
      return "reads";
    case TensorUse::kStore:
      return "writes";
    case TensorUse::kFactor:
      return "reads A from";
    case TensorUse::kScale:
      return "reads scales from";
    case TensorUse::kSum:
      return "writes D to";
    case TensorUse::kCopy:
      return "copies to";
    case TensorUse::kFree:
      return "deallocates";
  }
  return "";
}

struct CellAccess {
  const Warp& warp;
  const Instruction& i;
  uint32_t lane, strip, column;
  TensorUse use;

  [[noreturn]] void Race(uint32_t statement, const std::string& by, const char* does,
                         const std::string& missing) const {
    const Source& source = warp.block->program->sources[statement];
    Fail(warp, i, lane, Fault::Kind::kRace,
         Text("%s tensor memory at lane %u, column %u, which %s by ", TextOf(use), strip * kStripLanes, column,
              SourceText(source).c_str()) +
             by + " may still be " + does + ": " + missing);
  }

  void NeedEnded(const TensorMemory& memory, uint32_t product, const char* does) const {
    if (product == 0) return;
    const TensorProduct& other = memory.products[product - 1];
    if (other.commit != 0 && warp.block->races.HasSeenCore(warp, GetTensorCore(warp), other.commit)) return;
    Race(other.statement, ThreadText(warp, warp.block->warps[other.warp], other.lane), does,
         other.commit == 0 ? "a tcgen05.commit by that thread and a wait for its mbarrier have to come first"
                           : "a wait for the mbarrier of its tcgen05.commit has to come first");
  }

  void NeedWaited(const TensorMemory& memory, const TensorTouch& touch, bool loads) const {
    if (touch.warp == TensorTouch::kNobody) return;
    const Warp& other = warp.block->warps[touch.warp];
    const TensorMemory::Member& member = memory.members[other.in_block];
    const std::vector<uint32_t>& waits = loads ? member.load_waits : member.store_waits;
    const char* const does = loads ? "reading" : "writing";
    if (touch.wait >= waits.size()) {
      Race(touch.statement, "warp " + std::to_string(other.in_block), does,
           Text("tcgen05.wait::%s has to come first", loads ? "ld" : "st"));
    }
    if (touch.warp == warp.index || warp.block->races.Before(warp, touch.warp * kLanes, waits[touch.wait])) return;
    Race(touch.statement, "warp " + std::to_string(other.in_block), does,
         "a barrier has to come between its tcgen05.wait and this");
  }
};

// Where a register of a lane is: in the 32 lanes, or 16, and among the columns that the warp accesses.
struct TensorPlace {
  uint32_t lane, column;
};
TensorPlace PlaceInTensor(TensorShape shape, uint32_t lane, uint32_t reg, uint32_t half_offset) {
  switch (shape) {
    case TensorShape::k32x32b:
      return {lane, reg};
    case TensorShape::k16x32bx2:
      return {lane % 16, reg + lane / 16 * half_offset};
    case TensorShape::k16x64b:
      return {lane / 4 + lane % 2 * 8, reg * 2 + lane / 2 % 2};
    case TensorShape::k16x128b:
      return {lane / 4 + reg % 2 * 8, reg / 2 * 4 + lane % 4};
    case TensorShape::k16x256b:
      return {lane / 4 + reg / 2 % 2 * 8, reg / 4 * 8 + lane % 4 * 2 + reg % 2};
  }
  return {};
}

// The cells and places that a tcgen05.ld or .st touches.
class WarpAccess {
 public:
  WarpAccess(const Warp& warp, const Instruction& i) : warp_(warp), i_(i) {
    const uint32_t* const extra = warp.block->program->extra.data() + i.extra;
    half_offset_ = extra[0];
    count_ = extra[1];
    slots_ = extra + 2;
    const uint32_t address = GetUniform(warp, i, i.op[0], "address") + static_cast<uint32_t>(i.displacement);
    lane_ = address >> 16;
    column_ = address & 0xffff;
    const uint32_t own = warp.in_block % 4 * kLanes;
    const bool whole = shape() == TensorShape::k32x32b;
    if (lane_ == own || (!whole && lane_ == own + kStripLanes)) return;
    Fail(warp, i, 0, Fault::Kind::kIllegalAddress,
         Text("has an address at lane %u; warp %u of the block has lanes %u to %u, and this shape begins at lane %u",
              lane_, warp.in_block, own, own + kLanes - 1, own) +
             (whole ? "" : Text(" or %u", own + kStripLanes)));
  }
  uint32_t count() const { return count_; }
  uint32_t slot(uint32_t reg) const { return slots_[reg]; }
  TensorPlace At(uint32_t lane, uint32_t reg) const {
    const TensorPlace at = PlaceInTensor(shape(), lane, reg, half_offset_);
    return {lane_ + at.lane, column_ + at.column};
  }
  // Checks each cell, and calls `note(cell)`.
  template <class F>
  void ForCells(TensorUse use, F note) const {
    TensorMemory& memory = GetTensorMemory(warp_);
    const uint32_t strips = shape() == TensorShape::k32x32b ? 2 : 1;
    const auto run = [&](uint32_t first, uint32_t columns) {
      for (uint32_t c = first; c < first + columns; ++c) {
        for (uint32_t s = 0; s < strips; ++s) {
          NeedTensorCell(warp_, i_, s * kStripLanes, lane_ / kStripLanes + s, c, use);
          note(&memory.Cell(lane_ / kStripLanes + s, c));
        }
      }
    };
    const bool halves = shape() == TensorShape::k16x32bx2;
    run(column_, strips == 2 || halves ? count_ : 2 * count_);
    if (halves) run(column_ + half_offset_, count_);
  }

 private:
  const Warp& warp_;
  const Instruction& i_;
  uint32_t half_offset_, count_;
  const uint32_t* slots_;
  uint32_t lane_, column_;

  TensorShape shape() const { return static_cast<TensorShape>(i_.variant); }
};

}  // namespace

void TensorMemory::Reset(uint32_t warps) {
  if (!cells.empty()) std::fill(cells.begin(), cells.end(), TensorCell());
  allocations.clear();
  members.assign(warps, {});
  products.clear();
  commits = 0;
  relinquished.reset();
}

TensorMemory& GetTensorMemory(const Warp& warp) { return warp.block->tensor_memories[warp.rank]; }

uint32_t GetTensorCore(const Warp& warp) { return warp.rank - warp.cluster_first / warp.block->block_warps; }

void NeedTensorCell(const Warp& warp, const Instruction& i, uint32_t lane, uint32_t strip, uint32_t column,
                    TensorUse use) {
  TensorMemory& memory = GetTensorMemory(warp);
  if (strip >= kTensorLanes / kStripLanes || column >= kTensorColumns || !IsAllocated(memory, column)) {
    Fail(warp, i, lane, Fault::Kind::kIllegalAddress,
         Text("%s tensor memory at lane %u, column %u, which isn't allocated", TextOf(use), strip * kStripLanes,
              column));
  }
  if (!warp.block->launch->checks.races) return;
  const CellAccess access{warp, i, lane, strip, column, use};
  const TensorCell& cell = memory.Cell(strip, column);
  // Products and copies run one after the other, in the order in which they were issued.
  const bool reads = use == TensorUse::kFactor || use == TensorUse::kScale;
  const bool product = reads || use == TensorUse::kSum || use == TensorUse::kCopy;
  if (!product) access.NeedEnded(memory, cell.writer, "writing");
  if (use == TensorUse::kStore || use == TensorUse::kFree) access.NeedEnded(memory, cell.reader, "reading");
  if (use != TensorUse::kStore || cell.store.warp != warp.index) access.NeedWaited(memory, cell.store, false);
  if (use == TensorUse::kLoad || reads) return;
  access.NeedWaited(memory, cell.load, true);
}

void RunTensorAllocate(Warp& warp, const Instruction& i, uint32_t mask) {
  NeedEveryLane(warp, i, mask);
  TensorMemory& memory = GetTensorMemory(warp);
  if (memory.relinquished) {
    const Source& source = warp.block->program->sources[*memory.relinquished];
    Fail(warp, i, 0, Fault::Kind::kIllegalAddress,
         Text("allocates after %s has given up the block's right to allocate", SourceText(source).c_str()));
  }
  const uint32_t count = GetUniform(warp, i, i.op[1], "number of columns");
  NeedColumnCount(warp, i, count);
  uint32_t first = 0, free = 0;
  for (uint32_t c = 0; c < kTensorColumns && free < count; ++c) {
    free = IsAllocated(memory, c) ? 0 : free + 1;
    if (free == 0) first = c + 1;
  }
  if (free < count) {
    Fail(warp, i, 0, Fault::Kind::kDeadlock,
         Text("waits for %u columns of tensor memory: the block itself has allocated so many of the %u that there "
              "aren't %u in a row (tcgen05.dealloc gives them back)",
              count, kTensorColumns, count));
  }
  if (memory.words.empty()) {
    memory.words.resize(size_t{kTensorLanes} * kTensorColumns);
    memory.cells.resize(size_t{kTensorLanes} / kStripLanes * kTensorColumns);
  }
  memory.allocations.push_back({first, count, warp.index, i.statement});
  const Access to = LocateOne(warp, i, 0, AccessKind::kWrite, 4, 4);
  if (to.space != Space::kShared)
    Fail(warp, i, 0, Fault::Kind::kIllegalAddress, "has an address outside of shared memory");
  if (RacesChecked(warp, to.space)) CheckRaces(warp, i, to, 0, false);
  std::memcpy(to.host[0], &first, sizeof first);
  Wrote(warp, i, to);
  ++warp.clock;
  ++warp.effects;
}

void RunTensorDeallocate(Warp& warp, const Instruction& i, uint32_t mask) {
  NeedEveryLane(warp, i, mask);
  TensorMemory& memory = GetTensorMemory(warp);
  const uint32_t address = GetUniform(warp, i, i.op[1], "address");
  const uint32_t count = GetUniform(warp, i, i.op[2], "number of columns");
  const auto found = std::find_if(memory.allocations.begin(), memory.allocations.end(),
                                  [&](const auto& of) { return of.first == address && of.count == count; });
  if (found == memory.allocations.end()) {
    Fail(warp, i, 0, Fault::Kind::kIllegalAddress,
         Text("has the address 0x%x and %u columns; no tcgen05.alloc gave this address for this number of columns, or "
              "they have been deallocated",
              address, count));
  }
  for (uint32_t c = address; c < address + count; ++c) {
    for (uint32_t strip = 0; strip < kTensorLanes / kStripLanes; ++strip) {
      NeedTensorCell(warp, i, 0, strip, c, TensorUse::kFree);
      memory.Cell(strip, c) = TensorCell();
    }
  }
  memory.allocations.erase(found);
  ++warp.effects;
}

void RunTensorRelinquish(Warp& warp, const Instruction& i, uint32_t mask) {
  NeedEveryLane(warp, i, mask);
  GetTensorMemory(warp).relinquished = i.statement;
}

void RunTensorMemoryLoad(Warp& warp, const Instruction& i, uint32_t mask) {
  NeedEveryLane(warp, i, mask);
  const WarpAccess access(warp, i);
  TensorMemory& memory = GetTensorMemory(warp);
  const auto wait = static_cast<uint32_t>(MemberOf(warp).load_waits.size());
  access.ForCells(TensorUse::kLoad, [&](TensorCell* cell) { cell->load = {warp.index, wait, i.statement}; });
  // The registers have their values at once. Triton's code computes with them before tcgen05.wait::ld, which the manual forbids and ptxas
  // orders; the memory isn't free before that.
  const bool looks = warp.block->launch->checks.uninitialised;
  for (uint32_t r = 0; r < access.count(); ++r) {
    uint32_t* const words = Words(warp, access.slot(r));
    uint32_t unknown = 0;
    for (uint32_t l = 0; l < kLanes; ++l) {
      const TensorPlace at = access.At(l, r);
      words[l] = memory.At(at.lane, at.column);
      const TensorCell& cell = memory.Cell(at.lane / kStripLanes, at.column);
      if (looks && (cell.written >> at.lane % kStripLanes & 1) == 0) unknown |= 1U << l;
    }
    SetTaint(warp, access.slot(r), ~0U, unknown);
    if (unknown != 0) TaintFrom(warp, i, 0, kOfTensorMemory);
  }
}

void RunTensorMemoryStore(Warp& warp, const Instruction& i, uint32_t mask) {
  NeedEveryLane(warp, i, mask);
  const WarpAccess access(warp, i);
  TensorMemory& memory = GetTensorMemory(warp);
  const auto wait = static_cast<uint32_t>(MemberOf(warp).store_waits.size());
  access.ForCells(TensorUse::kStore, [&](TensorCell* cell) { cell->store = {warp.index, wait, i.statement}; });
  for (uint32_t r = 0; r < access.count(); ++r) {
    const uint32_t* const words = Words(warp, access.slot(r));
    const uint32_t unknown = Tainted(warp, access.slot(r));
    for (uint32_t l = 0; l < kLanes; ++l) {
      const TensorPlace at = access.At(l, r);
      memory.At(at.lane, at.column) = words[l];
      uint16_t& written = memory.Cell(at.lane / kStripLanes, at.column).written;
      const auto bit = static_cast<uint16_t>(1U << at.lane % kStripLanes);
      written = static_cast<uint16_t>((unknown >> l & 1) != 0 ? written & ~bit : written | bit);
    }
  }
}

void RunTensorWaitForLoads(Warp& warp, const Instruction& i, uint32_t mask) {
  NeedEveryLane(warp, i, mask);
  MemberOf(warp).load_waits.push_back(warp.clock++);
}

void RunTensorWaitForStores(Warp& warp, const Instruction& i, uint32_t mask) {
  NeedEveryLane(warp, i, mask);
  MemberOf(warp).store_waits.push_back(warp.clock++);
}

void NeedDeallocated(const Block& block) {
  for (uint32_t rank = 0; rank < block.tensor_memories.size(); ++rank) {
    const TensorMemory& memory = block.tensor_memories[rank];
    if (memory.allocations.empty()) continue;
    const TensorMemory::Allocation& left = memory.allocations[0];
    Instruction begun;
    begun.statement = left.statement;
    Fail(block.warps[left.warp], begun, 0, Fault::Kind::kDeadlock,
         Text("allocates %u columns that nobody has deallocated when the block ends: other blocks wait for them for "
              "ever",
              left.count));
  }
}

}  // namespace kernpack::emulator
