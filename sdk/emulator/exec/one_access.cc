#include "exec/one_access.h"

#include <cstring>

#include "exec/access.h"

namespace kernpack::emulator {
namespace {

struct Found {
  const Region* region = nullptr;
  uint64_t offset = 0;  // in the region
};

bool Find(Warp& warp, const Instruction& i, uint32_t lane, Found* found) {
  Block& block = *warp.block;
  const uint32_t bytes = uint32_t{i.bytes} * i.count;
  if (block.counts != nullptr || !warp.taint.empty() || i.op[0] == kNoOperand || i.op[7] != 8) return false;
  const uint64_t address =
      reinterpret_cast<const uint64_t*>(warp.registers + i.op[0])[lane] + static_cast<uint64_t>(i.displacement);
  if (i.space != Space::kGlobal && i.space != Space::kConst &&
      (i.space != Space::kGeneric || WindowOf(address) != Space::kGlobal)) {
    return false;
  }
  if ((bytes & (bytes - 1)) != 0 || (address & (bytes - 1)) != 0) return false;
  found->region = FindRegion(block, address);
  if (found->region == nullptr) return false;
  found->offset = address - found->region->begin;
  return bytes <= found->region->size - found->offset;
}

template <class T, class S>
void Load(Warp& warp, const Instruction& i, uint32_t lane, const uint32_t* slots, const uint8_t* from) {
  T values[16];
  std::memcpy(values, from, sizeof(T) * i.count);  // first: a destination may be the address
  for (uint32_t e = 0; e < i.count; ++e) {
    if (slots[e] == kNoOperand) continue;
    if (i.wide) {
      reinterpret_cast<uint64_t*>(warp.registers + slots[e])[lane] =
          static_cast<uint64_t>(i.is_signed ? static_cast<int64_t>(S(values[e])) : static_cast<int64_t>(values[e]));
    } else {
      reinterpret_cast<uint32_t*>(warp.registers + slots[e])[lane] =
          static_cast<uint32_t>(i.is_signed ? static_cast<int32_t>(S(values[e])) : static_cast<int32_t>(values[e]));
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

bool LoadOne(Warp& warp, const Instruction& i, uint32_t lane, const uint32_t* slots) {
  Found found;
  if (!Find(warp, i, lane, &found)) return false;
  const Region& region = *found.region;
  if (region.written != nullptr && warp.block->launch->checks.uninitialised &&
      !AllWritten(region.written, found.offset, uint64_t{i.bytes} * i.count)) {
    return false;
  }
  const uint8_t* from = region.data + found.offset;
  switch (i.bytes) {
    case 1:
      Load<uint8_t, int8_t>(warp, i, lane, slots, from);
      return true;
    case 2:
      Load<uint16_t, int16_t>(warp, i, lane, slots, from);
      return true;
    case 4:
      Load<uint32_t, int32_t>(warp, i, lane, slots, from);
      return true;
    case 8:
      Load<uint64_t, int64_t>(warp, i, lane, slots, from);
      return true;
    default:
      return false;
  }
}

bool StoreOne(Warp& warp, const Instruction& i, uint32_t lane, const uint32_t* slots) {
  Found found;
  if (!Find(warp, i, lane, &found) || found.region->read_only) return false;
  uint8_t* to = found.region->data + found.offset;
  switch (i.bytes) {
    case 1:
      Store<uint8_t>(warp, i, lane, slots, to);
      break;
    case 2:
      Store<uint16_t>(warp, i, lane, slots, to);
      break;
    case 4:
      Store<uint32_t>(warp, i, lane, slots, to);
      break;
    case 8:
      Store<uint64_t>(warp, i, lane, slots, to);
      break;
    default:
      return false;
  }
  if (found.region->written != nullptr && warp.block->launch->checks.uninitialised)
    MarkWritten(found.region->written, found.offset, uint64_t{i.bytes} * i.count);
  return true;
}

}  // namespace kernpack::emulator
