
#include <cstring>
#include <type_traits>

#include "exec/access.h"
#include "exec/global_races.h"
#include "exec/warp.h"

namespace kernpack::emulator {
namespace {

struct Found {
  const Region* region = nullptr;
  uint64_t offset = 0;  // in the region
  bool has_bits = false;  // what has been written is kept, and looked at
};

bool Find(Warp& warp, const Instruction& i, uint32_t mask, Found* found) {
  if (!IsOne(mask)) return false;
  Block& block = *warp.block;
  const uint32_t bytes = uint32_t{i.bytes} * i.count;
  if (block.counts != nullptr || !warp.taint.empty() || i.op[0] == kNoOperand || i.op[7] != 8) return false;
  const uint64_t address =
      reinterpret_cast<const uint64_t*>(warp.registers + i.op[0])[First(mask)] + static_cast<uint64_t>(i.displacement);
  if (i.space != Space::kGlobal && i.space != Space::kConst &&
      (i.space != Space::kGeneric || GetWindow(address) != Space::kGlobal)) {
    return false;
  }
  if ((bytes & (bytes - 1)) != 0 || (address & (bytes - 1)) != 0) return false;
  found->region = FindRegion(block, address);
  if (found->region == nullptr) return false;
  found->offset = address - found->region->begin;
  found->has_bits = found->region->written != nullptr && block.launch->checks.uninitialised;
  return bytes <= found->region->size - found->offset;
}

// Calls `f` with a zero of the unsigned type of that size; false: there is none.
template <class F>
bool ByBytes(uint32_t bytes, F f) {
  switch (bytes) {
    case 1:
      return f(uint8_t{0}), true;
    case 2:
      return f(uint16_t{0}), true;
    case 4:
      return f(uint32_t{0}), true;
    case 8:
      return f(uint64_t{0}), true;
    default:
      return false;
  }
}

template <class T>
uint64_t Extended(T value, bool is_signed) {
  return is_signed ? static_cast<uint64_t>(int64_t{static_cast<std::make_signed_t<T>>(value)}) : uint64_t{value};
}

template <class T>
void Load(Warp& warp, const Instruction& i, uint32_t lane, const uint32_t* slots, const uint8_t* from) {
  T values[16];
  std::memcpy(values, from, sizeof(T) * i.count);  // first: a destination may be the address
  for (uint32_t e = 0; e < i.count; ++e) {
    if (slots[e] == kNoOperand) continue;
    unsigned char* const slot = warp.registers + slots[e];
    const uint64_t value = Extended(values[e], i.is_signed);
    if (i.wide) {
      reinterpret_cast<uint64_t*>(slot)[lane] = value;
    } else {
      reinterpret_cast<uint32_t*>(slot)[lane] = static_cast<uint32_t>(value);
    }
  }
}

template <class T>
void Store(const Warp& warp, const Instruction& i, uint32_t lane, const uint32_t* slots, uint8_t* to) {
  for (uint32_t e = 0; e < i.count; ++e) {
    const unsigned char* slot = warp.registers + slots[e];
    const T value = static_cast<T>(i.wide ? reinterpret_cast<const uint64_t*>(slot)[lane]
                                          : reinterpret_cast<const uint32_t*>(slot)[lane]);
    std::memcpy(to + e * sizeof(T), &value, sizeof value);
  }
}

}  // namespace

bool LoadOne(Warp& warp, const Instruction& i, uint32_t mask, const uint32_t* slots) {
  Found found;
  if (!Find(warp, i, mask, &found)) return false;
  const Region& region = *found.region;
  if (warp.block->global != nullptr) {
    if ((i.flags & kStrong) != 0) return false;
    CheckGlobalBytes(warp, i, AccessKind::kRead, region.begin + found.offset, uint64_t{i.bytes} * i.count, First(mask),
                     false);
  }
  if (found.has_bits && !AllWritten(region.written, found.offset, uint64_t{i.bytes} * i.count)) return false;
  return ByBytes(i.bytes,
                 [&](auto type) { Load<decltype(type)>(warp, i, First(mask), slots, region.data + found.offset); });
}

bool StoreOne(Warp& warp, const Instruction& i, uint32_t mask, const uint32_t* slots) {
  Found found;
  if (!Find(warp, i, mask, &found) || found.region->read_only) return false;
  uint8_t* const to = found.region->data + found.offset;
  if (warp.block->global != nullptr && (i.flags & kStrong) != 0) return false;
  const bool stored = ByBytes(i.bytes, [&](auto type) {
    if (warp.block->global != nullptr) {
      const uint64_t bytes = uint64_t{i.bytes} * i.count;
      uint8_t fresh[64];
      Store<decltype(type)>(warp, i, First(mask), slots, fresh);
      CheckGlobalBytes(warp, i, AccessKind::kWrite, found.region->begin + found.offset, bytes, First(mask),
                       std::memcmp(fresh, to, bytes) == 0);
    }
    Store<decltype(type)>(warp, i, First(mask), slots, to);
  });
  if (stored && found.has_bits) MarkWritten(found.region->written, found.offset, uint64_t{i.bytes} * i.count);
  return stored;
}

}  // namespace kernpack::emulator
