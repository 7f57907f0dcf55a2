#include "exec/tensor_copy.h"

#include <algorithm>
#include <cstring>

#include "exec/bulk.h"
#include "exec/bulk_access.h"
#include "exec/clusters.h"
#include "exec/fault.h"
#include "exec/global_races.h"
#include "exec/memory_ops.h"
#include "exec/tensor_box.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kBoxAlign = 128;  // of a box in shared memory

// The box, as it is to lie in shared memory from `begin` on.
std::vector<uint8_t> CollectBox(Warp& warp, const Instruction& i, uint32_t lane, const TensorBox& box, uint64_t begin) {
  const uint32_t bytes = box.element().bytes;
  std::vector<uint8_t> out(box.bytes()), row(box.row_bytes());
  const uint64_t fill = box.Fill();
  box.ForRows([&](const TensorRow& of) {
    for (uint32_t at = 0; at < row.size(); at += bytes) std::memcpy(row.data() + at, &fill, bytes);
    const uint32_t inside = (of.last - of.first) * bytes;
    if (inside != 0) {
      std::memcpy(row.data() + of.first * bytes, box.Global(of.address, inside, false), inside);
      if (GlobalChecked(warp, Space::kGlobal))
        CheckGlobalBytes(warp, i, AccessKind::kRead, of.address, inside, lane, false);
    }
    for (uint32_t at = 0; at < row.size(); at += kBulkUnit)
      std::memcpy(out.data() + box.Place(begin, of.offset + at), row.data() + at, kBulkUnit);
  });
  return out;
}

void LoadBox(Warp& warp, const Instruction& i, uint32_t lane) {
  const TensorBox box(&warp, i, lane);
  const Instruction to = WithAddress(warp, i, 2, 1), barrier = WithAddress(warp, i, 3, 2);
  uint64_t addresses[kLanes];
  Addresses(warp, to, addresses);
  const auto data =
      std::make_shared<const std::vector<uint8_t>>(CollectBox(warp, i, lane, box, addresses[lane] % kRankUnit));
  ForDestinations(warp, i, lane, [&](uint32_t rank) {
    const Access there = LocateInBlock(warp, barrier, lane, rank, 8, 8);
    BeginBulk(warp, i, lane, LocateInBlock(warp, to, lane, rank, box.bytes(), kBoxAlign), there, nullptr, data,
              box.map().swizzle);
  });
}

void UpdateElements(Warp& warp, const Instruction& i, uint32_t lane, const TensorBox& box, uint8_t* to,
                    const uint8_t* from, uint32_t bytes) {
  const uint32_t each = box.element().bytes;
  const std::string_view update = kTensorUpdates[i.variant];
  const bool of_bits = update == "and" || update == "or" || update == "xor";
  const std::string_view type = of_bits ? (each == 8 ? "b64" : each == 4 ? "b32" : "") : box.element().reduced;
  uint8_t variant = 0;
  if ((of_bits && box.element().is_float) || !FindAtomic(update, type, &variant, true)) {
    Fail(warp, i, lane, Fault::Kind::kIllegalAddress,
         "has a tensor map with elements of type ." + std::string(box.element().name) +
             ", for which this reduction isn't emulated");
  }
  for (uint32_t at = 0; at < bytes; at += each) UpdateMemory(variant, each, to + at, from + at);
}

void StoreBox(Warp& warp, const Instruction& i, uint32_t lane) {
  const TensorBox box(&warp, i, lane);
  const Access source = LocateOne(warp, WithAddress(warp, i, 2, 1), lane, AccessKind::kRead, box.bytes(), kBoxAlign);
  if (source.unwritten != 0)
    Fail(warp, i, lane, Fault::Kind::kUninitialised, "copies shared memory that nothing has written");
  CountBytes(warp, i, source.space, source.kind, source.address[lane], source.bytes);
  ReadForBulk(warp, i, lane, source);
  const uint64_t begin = source.address[lane] - warp.shared_base;
  std::vector<uint8_t> row(box.row_bytes());
  box.ForRows([&](const TensorRow& of) {
    const uint32_t inside = (of.last - of.first) * box.element().bytes;
    if (inside == 0) return;
    for (uint32_t at = 0; at < row.size(); at += kBulkUnit)
      std::memcpy(row.data() + at, source.host[lane] + box.Place(begin, of.offset + at), kBulkUnit);
    uint8_t* const to = box.Global(of.address, inside, true);
    const uint8_t* const from = row.data() + of.first * box.element().bytes;
    if (GlobalChecked(warp, Space::kGlobal)) {
      BeginBulkWrite(warp, i, i.variant == 0 ? AccessKind::kWrite : AccessKind::kAtomic, of.address, inside, lane,
                     std::memcmp(to, from, inside) == 0);
    }
    if (i.variant == 0) {
      std::memcpy(to, from, inside);
    } else {
      UpdateElements(warp, i, lane, box, to, from, inside);
    }
  });
}

}  // namespace

void RunTensorLoad(Warp& warp, const Instruction& i, uint32_t mask) {
  for (uint32_t left = mask; left != 0; left &= left - 1) LoadBox(warp, i, First(left));
  ++warp.clock;
  ++warp.effects;
}

void RunTensorStore(Warp& warp, const Instruction& i, uint32_t mask) {
  for (uint32_t left = mask; left != 0; left &= left - 1) StoreBox(warp, i, First(left));
  ++warp.clock;
  ++warp.effects;
}

void RunTensorReplace(Warp& warp, const Instruction& i, uint32_t mask) {
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = First(left);
    const Access access = LocateOne(warp, i, lane, AccessKind::kWrite, sizeof(TensorMap), sizeof(TensorMap));
    TensorMap map;
    std::memcpy(&map, access.host[lane], sizeof map);
    const uint64_t value =
        i.wide ? reinterpret_cast<const uint64_t*>(warp.registers + i.op[1])[lane] : Words(warp, i.op[1])[lane];
    const auto byte = static_cast<uint8_t>(std::min<uint64_t>(value, 0xff));
    const auto word = static_cast<uint32_t>(value);
    switch (static_cast<TensorField>(i.variant)) {
      case TensorField::kAddress:
        map.address = value;
        break;
      case TensorField::kRank:
        map.rank = byte;
        break;
      case TensorField::kBox:
        map.boxes[i.count] = word;
        break;
      case TensorField::kDimension:
        map.dims[i.count] = word;
        break;
      case TensorField::kStride:
        map.strides[i.count] = value;
        break;
      case TensorField::kStep:
        map.steps[i.count] = byte;
        break;
      case TensorField::kElement:
        map.element = byte;
        break;
      case TensorField::kInterleave:
        map.interleave = byte;
        break;
      case TensorField::kSwizzle:
        map.swizzle = byte;
        break;
      case TensorField::kFill:
        map.fill = byte;
        break;
    }
    // A map that is made from memory which held something else.
    if (map.magic != TensorMap::kMagic) map.mode = TensorMode::kTile;
    map.magic = TensorMap::kMagic;
    if (RacesChecked(warp, access.space)) CheckRaces(warp, i, access, lane, false);
    std::memcpy(access.host[lane], &map, sizeof map);
    Wrote(warp, i, access);
    if (access.space == Space::kGlobal) warp.block->changed_maps.push_back({access.address[lane], i.statement});
  }
}

void RunTensorAcquire(Warp& warp, const Instruction& i, uint32_t mask) {
  if (warp.block->changed_maps.empty()) return;
  uint64_t addresses[kLanes];
  Addresses(warp, i, addresses);
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    std::erase_if(warp.block->changed_maps,
                  [&](const ChangedMap& map) { return map.address == addresses[First(left)]; });
  }
}

void RunTensorPublish(Warp& warp, const Instruction& i, uint32_t mask) {
  const auto lane = First(mask);
  const Access source = LocateOne(warp, WithAddress(warp, i, 1, 0), lane, AccessKind::kRead, sizeof(TensorMap));
  if (RacesChecked(warp, source.space)) CheckRaces(warp, i, source, lane, false);
  const Access to = LocateOne(warp, i, lane, AccessKind::kWrite, sizeof(TensorMap));
  std::memcpy(to.host[lane], source.host[lane], sizeof(TensorMap));
  Wrote(warp, i, to);
  warp.block->changed_maps.push_back({to.address[lane], i.statement});
}

}  // namespace kernpack::emulator
