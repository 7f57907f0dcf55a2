// ld and st.
#include <cstring>

#include "exec/access.h"
#include "exec/counts.h"
#include "exec/global_races.h"
#include "exec/warp.h"
#include "exec/memory_ops.h"
#include "exec/row_access.h"
#include "exec/taint.h"

namespace kernpack::emulator {
namespace {

// A value of 1, 2, 4 or 8 bytes, extended to a register.
uint64_t Read(const uint8_t* from, uint32_t bytes, bool is_signed) {
  uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  if (is_signed && bytes < 8) {
    const uint32_t shift = 64 - bytes * 8;
    value = static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift);
  }
  return value;
}

void PutLane(unsigned char* slot, bool wide, uint32_t lane, uint64_t value) {
  if (wide) {
    reinterpret_cast<uint64_t*>(slot)[lane] = value;
  } else {
    reinterpret_cast<uint32_t*>(slot)[lane] = static_cast<uint32_t>(value);
  }
}
uint64_t GetLane(const unsigned char* slot, bool wide, uint32_t lane) {
  return wide ? reinterpret_cast<const uint64_t*>(slot)[lane] : reinterpret_cast<const uint32_t*>(slot)[lane];
}

// None where a row of these values isn't moved as a whole.
RowMoves GetMoves(const Warp& warp, const Instruction& i, const uint32_t* slots) {
  for (uint32_t e = 0; e < i.count; ++e) {
    if (slots[e] == kNoOperand) return {nullptr, nullptr};
  }
  return warp.block->program->rows->moves(i.bytes, i.count, i.wide, i.is_signed);
}

bool LoadRow(Warp& warp, const Instruction& i, uint32_t mask, const uint32_t* slots) {
  const RowMoves moves = GetMoves(warp, i, slots);
  RowAccess row;
  row.kind = AccessKind::kRead;
  row.bytes = uint32_t{i.bytes} * i.count;
  if (moves.load == nullptr || !FindRowAccess(warp, i, mask, &row)) return false;
  if (RacesChecked(warp, row.space)) CheckRowRaces(warp, i, row, 0);
  if (GlobalChecked(warp, row.space)) {
    if ((i.flags & kStrong) != 0) return false;
    CheckGlobalRow(warp, i, row, nullptr);
  }
  moves.load(row.lanes, slots, warp.registers);
  return true;
}

bool StoreRow(Warp& warp, const Instruction& i, uint32_t mask, const uint32_t* slots) {
  const RowMoves moves = GetMoves(warp, i, slots);
  RowAccess row;
  row.kind = AccessKind::kWrite;
  row.bytes = uint32_t{i.bytes} * i.count;
  if (moves.store == nullptr || !FindRowAccess(warp, i, mask, &row)) return false;
  const bool global = GlobalChecked(warp, row.space);
  if (global && (i.flags & kStrong) != 0) return false;
  if (global || RacesChecked(warp, row.space)) {
    if (row.lanes.step == 0 && (mask & (mask - 1)) != 0) return false;  // each lane sees what the one before it wrote
    alignas(16) uint8_t bytes[kLanes * 16];
    Lanes to = row.lanes;
    to.host = bytes;
    moves.store(to, slots, warp.registers);
    uint32_t same = 0;
    if (global) CheckGlobalRow(warp, i, row, bytes);
    for (uint32_t left = global ? 0 : mask; left != 0; left &= left - 1) {
      const uint64_t offset = row.lanes.Offset(First(left));
      if (std::memcmp(bytes + offset, row.lanes.host + offset, row.bytes) == 0) same |= left & -left;
    }
    if (!global) CheckRowRaces(warp, i, row, same);
  }
  moves.store(row.lanes, slots, warp.registers);
  WroteRow(warp, row);
  return true;
}

// Apart, as they need much of the stack.
__attribute__((noinline)) void LoadEach(Warp& warp, const Instruction& i, uint32_t mask, const uint32_t* slots) {
  uint64_t addresses[kLanes];
  Addresses(warp, i, addresses);
  Access access;
  access.kind = AccessKind::kRead;
  access.bytes = uint32_t{i.bytes} * i.count;
  while (mask != 0) {
    Locate(warp, i, addresses, &mask, &access);
    CountAccess(warp, i, access);
    if (RacesChecked(warp, access.space)) {
      for (uint32_t l = 0; l < kLanes; ++l) {
        if ((access.mask >> l & 1) != 0) CheckRaces(warp, i, access, l, false);
      }
    }
    if (GlobalChecked(warp, access.space)) CheckGlobal(warp, i, access, 0);
    for (uint32_t e = 0; e < i.count; ++e) SetTaint(warp, slots[e], access.mask, access.unwritten);
    for (uint32_t l = 0; l < kLanes; ++l) {
      if ((access.mask >> l & 1) == 0) continue;
      // All of a lane before it is put anywhere: a destination may be the address.
      for (uint32_t e = 0; e < i.count; ++e) {
        if (slots[e] != kNoOperand) {
          PutLane(warp.registers + slots[e], i.wide, l,
                  Read(access.host[l] + size_t{e} * i.bytes, i.bytes, i.is_signed));
        }
      }
    }
    if (GlobalChecked(warp, access.space)) AcquireGlobal(warp, i, access);
  }
}

__attribute__((noinline)) void StoreEach(Warp& warp, const Instruction& i, uint32_t mask, const uint32_t* slots) {
  uint64_t addresses[kLanes];
  Addresses(warp, i, addresses);
  Access access;
  access.kind = AccessKind::kWrite;
  access.bytes = uint32_t{i.bytes} * i.count;
  while (mask != 0) {
    Locate(warp, i, addresses, &mask, &access);
    CountAccess(warp, i, access);
    uint32_t tainted = 0;
    for (uint32_t e = 0; e < i.count; ++e) {
      if (access.space == Space::kGlobal) NeedUntainted(warp, i, slots[e], access.mask, "stores");
      tainted |= Tainted(warp, slots[e]) & access.mask;
    }
    const bool races = RacesChecked(warp, access.space);
    uint8_t bytes[64];
    const auto collect = [&](uint32_t l) {
      for (uint32_t e = 0; e < i.count; ++e) {
        const uint64_t value = GetLane(warp.registers + slots[e], i.wide, l);
        std::memcpy(bytes + size_t{e} * i.bytes, &value, i.bytes);
      }
    };
    if (GlobalChecked(warp, access.space)) {
      uint32_t same = 0;
      for (uint32_t left = access.mask; left != 0; left &= left - 1) {
        collect(First(left));
        if (std::memcmp(bytes, access.host[First(left)], access.bytes) == 0) same |= left & -left;
      }
      CheckGlobal(warp, i, access, same);
    }
    for (uint32_t l = 0; l < kLanes; ++l) {
      if ((access.mask >> l & 1) == 0) continue;
      collect(l);
      if (races) CheckRaces(warp, i, access, l, std::memcmp(bytes, access.host[l], access.bytes) == 0);
      std::memcpy(access.host[l], bytes, access.bytes);
    }
    if (tainted != 0 && access.space == Space::kShared) {  // as good as not written
      access.mask &= ~tainted;
    }
    Wrote(warp, i, access);
  }
}

}  // namespace

void RunLoad(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t* slots = warp.block->program->extra.data() + i.extra;
  if (!LoadOne(warp, i, mask, slots) && !LoadRow(warp, i, mask, slots)) LoadEach(warp, i, mask, slots);
}

void RunStore(Warp& warp, const Instruction& i, uint32_t mask) {
  ++warp.effects;
  const uint32_t* slots = warp.block->program->extra.data() + i.extra;
  if (!StoreOne(warp, i, mask, slots) && !StoreRow(warp, i, mask, slots)) StoreEach(warp, i, mask, slots);
}

}  // namespace kernpack::emulator
