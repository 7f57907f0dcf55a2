// ld and st.
#include <bit>
#include <cstring>

#include "exec/access.h"
#include "exec/counts.h"
#include "exec/memory_ops.h"
#include "exec/row.h"
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

// A row of vectors of kCount values of type T, which registers hold as W.
template <class T, class W, uint32_t kCount>
struct RowOf {
  template <bool kUniform>
  static void LoadAll(const uint8_t* from, const uint32_t* slots, unsigned char* registers) {
    for (uint32_t e = 0; e < kCount; ++e) {
      auto* to = reinterpret_cast<W*>(registers + slots[e]);
      for (uint32_t l = 0; l < kLanes; ++l) {
        T value;
        std::memcpy(&value, from + ((kUniform ? 0 : l * kCount) + e) * sizeof(T), sizeof value);
        to[l] = static_cast<W>(value);
      }
    }
  }
  static void Load(const Row& row, const uint32_t* slots, unsigned char* registers) {
    if (row.mask == ~0U) {
      return row.step == 0 ? LoadAll<true>(row.host, slots, registers) : LoadAll<false>(row.host, slots, registers);
    }
    for (uint32_t left = row.mask; left != 0; left &= left - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(left));
      T values[kCount];
      std::memcpy(values, row.host + row.Offset(l), sizeof values);
      for (uint32_t e = 0; e < kCount; ++e) reinterpret_cast<W*>(registers + slots[e])[l] = static_cast<W>(values[e]);
    }
  }

  static void StoreLane(const uint32_t* slots, const unsigned char* registers, uint32_t lane, uint8_t* to) {
    for (uint32_t e = 0; e < kCount; ++e) {
      const auto value = static_cast<T>(reinterpret_cast<const W*>(registers + slots[e])[lane]);
      std::memcpy(to + e * sizeof(T), &value, sizeof value);
    }
  }
  static void Store(const Row& row, const uint32_t* slots, const unsigned char* registers) {
    if (row.mask == ~0U && row.step != 0) {
      for (uint32_t l = 0; l < kLanes; ++l) StoreLane(slots, registers, l, row.host + size_t{l} * (sizeof(T) * kCount));
      return;
    }
    for (uint32_t left = row.mask; left != 0; left &= left - 1) {
      const auto l = static_cast<uint32_t>(std::countr_zero(left));
      StoreLane(slots, registers, l, row.host + row.Offset(l));
    }
  }
};

struct RowHandlers {
  void (*load)(const Row& row, const uint32_t* slots, unsigned char* registers) = nullptr;
  void (*store)(const Row& row, const uint32_t* slots, const unsigned char* registers) = nullptr;
};

template <class T, class W>
RowHandlers RowsOf(uint32_t count) {
  if (count == 1) return {RowOf<T, W, 1>::Load, RowOf<T, W, 1>::Store};
  if (count == 2) return {RowOf<T, W, 2>::Load, RowOf<T, W, 2>::Store};
  if (count == 4) return {RowOf<T, W, 4>::Load, RowOf<T, W, 4>::Store};
  return {};
}

RowHandlers RowsOf(const Instruction& i, const uint32_t* slots) {
  for (uint32_t e = 0; e < i.count; ++e) {
    if (slots[e] == kNoOperand) return {};
  }
  if (i.wide) return i.bytes == 8 ? RowsOf<uint64_t, uint64_t>(i.count) : RowHandlers();
  if (i.bytes == 4) return RowsOf<uint32_t, uint32_t>(i.count);
  if (i.bytes == 2) return i.is_signed ? RowsOf<int16_t, uint32_t>(i.count) : RowsOf<uint16_t, uint32_t>(i.count);
  if (i.bytes == 1) return i.is_signed ? RowsOf<int8_t, uint32_t>(i.count) : RowsOf<uint8_t, uint32_t>(i.count);
  return {};
}

bool LoadRow(Warp& warp, const Instruction& i, uint32_t mask, const uint32_t* slots) {
  const RowHandlers handlers = RowsOf(i, slots);
  Row row;
  row.bytes = uint32_t{i.bytes} * i.count;
  if (handlers.load == nullptr || !FindRow(warp, i, mask, &row)) return false;
  if (RacesChecked(warp, row.space)) CheckRowRaces(warp, i, row, 0);
  handlers.load(row, slots, warp.registers);
  return true;
}

bool StoreRow(Warp& warp, const Instruction& i, uint32_t mask, const uint32_t* slots) {
  const RowHandlers handlers = RowsOf(i, slots);
  Row row;
  row.kind = AccessKind::kWrite;
  row.bytes = uint32_t{i.bytes} * i.count;
  if (handlers.store == nullptr || !FindRow(warp, i, mask, &row)) return false;
  if (RacesChecked(warp, row.space)) {
    if (row.step == 0 && (mask & (mask - 1)) != 0) return false;  // each lane sees what the one before it wrote
    alignas(16) uint8_t bytes[kLanes * 16];
    Row to = row;
    to.host = bytes;
    handlers.store(to, slots, warp.registers);
    uint32_t same = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
      const uint64_t offset = row.Offset(static_cast<uint32_t>(std::countr_zero(left)));
      if (std::memcmp(bytes + offset, row.host + offset, row.bytes) == 0) same |= left & -left;
    }
    CheckRowRaces(warp, i, row, same);
  }
  handlers.store(row, slots, warp.registers);
  WroteRow(warp, row);
  return true;
}

}  // namespace

void RunLoad(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t* slots = warp.block->program->extra.data() + i.extra;
  if (LoadRow(warp, i, mask, slots)) return;
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
  }
}

void RunStore(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t* slots = warp.block->program->extra.data() + i.extra;
  if (StoreRow(warp, i, mask, slots)) return;
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
    for (uint32_t l = 0; l < kLanes; ++l) {
      if ((access.mask >> l & 1) == 0) continue;
      uint8_t bytes[64];
      for (uint32_t e = 0; e < i.count; ++e) {
        const uint64_t value = GetLane(warp.registers + slots[e], i.wide, l);
        std::memcpy(bytes + size_t{e} * i.bytes, &value, i.bytes);
      }
      if (races) CheckRaces(warp, i, access, l, std::memcmp(bytes, access.host[l], access.bytes) == 0);
      std::memcpy(access.host[l], bytes, access.bytes);
    }
    if (tainted != 0 && access.space == Space::kShared) {  // as good as not written
      access.mask &= ~tainted;
    }
    Wrote(warp, i, access);
  }
}

}  // namespace kernpack::emulator
