#include "exec/tensor_box.h"

#include <algorithm>
#include <cstring>

#include "exec/bulk_access.h"
#include "exec/fault.h"
#include "exec/group_operand.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kGatheredRows = 4;

}  // namespace

TensorBox::TensorBox(Warp* warp, const Instruction& instruction, uint32_t lane)
    : warp_(*warp), instruction_(instruction), lane_(lane) {
  const Instruction of_map = WithAddress(*warp, instruction, 1, 0);
  constexpr uint32_t kAlign = 64;
  const Access access = LocateOne(*warp, of_map, lane, AccessKind::kRead, sizeof map_, kAlign);
  std::memcpy(&map_, access.host[lane], sizeof map_);
  for (const ChangedMap& changed : warp->block->changed_maps) {
    if (changed.address != access.address[lane]) continue;
    const Source& source = warp->block->program->sources[changed.statement];
    Fail(*warp, instruction, lane, Fault::Kind::kRace,
         Text("uses the tensor map at 0x%llx, which %s has changed: a fence.proxy.tensormap::generic "
              "with .acquire for it has to come first",
              static_cast<unsigned long long>(changed.address), SourceText(source).c_str()));
  }
  const auto stop = [&](const std::string& what) {
    Fail(*warp, instruction, lane, Fault::Kind::kIllegalAddress, "has a tensor map " + what);
  };
  if (const std::string wrong = CheckTensorMap(map_); !wrong.empty()) stop(wrong);
  const uint32_t* const extra = warp->block->program->extra.data() + instruction.extra + 3 * kAddressWords;
  rank_ = extra[0];
  mode_ = static_cast<TensorMode>(extra[1]);
  const bool pixels = mode_ == TensorMode::kIm2col;
  if (pixels != (map_.mode == TensorMode::kIm2col)) {
    stop(pixels ? "of boxes; the instruction needs one of im2col (cuTensorMapEncodeIm2col)"
                : "of im2col; the instruction needs one of boxes (cuTensorMapEncodeTiled)");
  }
  if (map_.rank + 1U != rank_) stop(Text("of %u dimensions; the instruction is for %u", map_.rank + 1U, rank_));
  element_ = FindTensorElement(map_.element);
  bytes_ = element_->bytes;
  const uint32_t coordinates = mode_ == TensorMode::kGather ? 1 + kGatheredRows : rank_;
  for (uint32_t d = 0; d < coordinates; ++d) at_[d] = static_cast<int32_t>(Words(*warp, extra[2 + d])[lane]);
  // Without interleaving, elements of dimension 0 have no stride.
  map_.steps[0] = 1;
  if (pixels) {
    for (uint32_t d = 1; d + 1 < rank_ && extra[2 + rank_] != kNoOperand; ++d)
      offsets_[d] = static_cast<uint16_t>(Words(*warp, extra[1 + rank_ + d])[lane]);
    counts_[0] = map_.boxes[0], counts_[1] = map_.boxes[1];
  } else {
    if (mode_ == TensorMode::kGather && map_.boxes[1] != 1)
      stop(Text("whose box has %u rows; .tile::gather4 and .tile::scatter4 need 1", map_.boxes[1]));
    for (uint32_t d = 0; d < rank_; ++d) counts_[d] = (map_.boxes[d] + map_.steps[d] - 1) / map_.steps[d];
    if (mode_ == TensorMode::kGather) counts_[1] = kGatheredRows;
  }
  for (uint32_t d = 0; d < rank_; ++d) bytes_ *= counts_[d];
}

TensorRow TensorBox::Row(uint32_t offset, const int64_t* at) const {
  TensorRow row{offset, map_.address, 0, 0};
  for (uint32_t d = 1; d < rank_; ++d) {
    if (at[d] < 0 || at[d] >= int64_t{map_.dims[d]}) return row;
    row.address += static_cast<uint64_t>(at[d]) * map_.strides[d - 1];
  }
  const int64_t last = std::clamp<int64_t>(int64_t{map_.dims[0]} - at_[0], 0, counts_[0]);
  row.first = static_cast<uint32_t>(std::clamp<int64_t>(-at_[0], 0, last));
  row.last = static_cast<uint32_t>(last);
  row.address += static_cast<uint64_t>(at_[0] + row.first) * element_->bytes;
  return row;
}

uint64_t TensorBox::Place(uint64_t begin, uint32_t offset) const {
  return Swizzled(begin + offset, map_.swizzle) - begin;
}

uint8_t* TensorBox::Global(uint64_t address, uint32_t bytes, bool writes) const {
  Block& block = *warp_.block;
  const Region* const region = FindRegion(block, address);
  const auto stop = [&](Fault::Kind kind, const std::string& what) {
    Fail(warp_, instruction_, lane_, kind,
         Text("%s %u bytes at 0x%llx of the tensor: ", writes ? "writes" : "reads", bytes,
              static_cast<unsigned long long>(address)) +
             what);
  };
  if (region == nullptr || bytes > region->size - (address - region->begin))
    stop(Fault::Kind::kIllegalAddress, block.launch->memory->Near(address));
  if (writes && region->read_only) stop(Fault::Kind::kIllegalAddress, "it is a constant of the module");
  const uint64_t offset = address - region->begin;
  if (block.launch->checks.uninitialised && region->written != nullptr) {
    if (writes) {
      MarkWritten(region->written, offset, bytes);
    } else if (!AllWritten(region->written, offset, bytes)) {
      stop(Fault::Kind::kUninitialised, "nothing has written that global memory");
    }
  }
  CountBytes(warp_, instruction_, Space::kGlobal, writes ? AccessKind::kWrite : AccessKind::kRead, address, bytes,
             element_->bytes);
  return region->data + offset;
}

uint64_t TensorBox::Fill() const {
  if (map_.fill == 0) return 0;
  return element_->bytes == 2 ? 0x7fff : element_->bytes == 4 ? 0x7fffffff : 0x7fffffffffffffff;
}

}  // namespace kernpack::emulator
