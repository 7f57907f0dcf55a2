// ld and st.
#include <cstring>

#include "exec/access.h"
#include "exec/counts.h"
#include "exec/memory_ops.h"
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

template <class T, class W>
void LoadRow(const Access& access, unsigned char* slot, uint32_t stride, uint32_t offset) {
  auto* to = reinterpret_cast<W*>(slot);
  for (uint32_t l = 0; l < kLanes; ++l) {
    T value;
    std::memcpy(&value, access.host[0] + size_t{l} * stride + offset, sizeof value);
    to[l] = static_cast<W>(value);
  }
}

bool LoadFast(const Access& access, const Instruction& i, const uint32_t* slots, unsigned char* registers) {
  if (i.is_signed && i.bytes < 4) return false;
  if (!access.contiguous && !access.uniform) return false;
  const uint32_t stride = access.uniform ? 0 : access.bytes;
  for (uint32_t e = 0; e < i.count; ++e) {
    if (slots[e] == kNoOperand) continue;
    unsigned char* slot = registers + slots[e];
    if (i.bytes == 4 && !i.wide) {
      LoadRow<uint32_t, uint32_t>(access, slot, stride, e * 4);
    } else if (i.bytes == 8 && i.wide) {
      LoadRow<uint64_t, uint64_t>(access, slot, stride, e * 8);
    } else if (i.bytes == 2 && !i.wide) {
      LoadRow<uint16_t, uint32_t>(access, slot, stride, e * 2);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

void RunLoad(Warp& warp, const Instruction& i, uint32_t mask) {
  uint64_t addresses[kLanes];
  Addresses(warp, i, addresses);
  const uint32_t* slots = warp.block->program->extra.data() + i.extra;
  Access access;
  access.kind = AccessKind::kRead;
  access.bytes = uint32_t{i.bytes} * i.count;
  while (mask != 0) {
    Locate(warp, i, addresses, &mask, &access);
    CountAccess(warp, i, access);
    if (RacesChecked(warp, access)) {
      for (uint32_t l = 0; l < kLanes; ++l) {
        if ((access.mask >> l & 1) != 0) CheckRaces(warp, i, access, l, false);
      }
    }
    for (uint32_t e = 0; e < i.count; ++e) SetTaint(warp, slots[e], access.mask, access.unwritten);
    if (LoadFast(access, i, slots, warp.registers)) continue;
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
  uint64_t addresses[kLanes];
  Addresses(warp, i, addresses);
  const uint32_t* slots = warp.block->program->extra.data() + i.extra;
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
    const bool races = RacesChecked(warp, access);
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
      access.contiguous = false;
      access.mask &= ~tainted;
    }
    Wrote(warp, i, access);
  }
}

}  // namespace kernpack::emulator
