#include "exec/row_access.h"
#include "exec/warp.h"

#include <bit>

namespace kernpack::emulator {
namespace {

// True if all lanes have one value, or values that grow by `bytes` from lane to lane.
template <class W>
bool IsRow(const W* value, uint32_t bytes, bool (*steps)(const W*, W, W), Lanes* lanes) {
  const W first = value[lanes->first];
  uint32_t rest = lanes->mask & (lanes->mask - 1);
  lanes->step = 0;
  if (rest == 0) return true;
  if (value[std::countr_zero(rest)] != first) lanes->step = bytes;
  if (lanes->mask == ~0U) return steps(value, first, lanes->step);
  for (; rest != 0; rest &= rest - 1) {
    const auto l = First(rest);
    if (value[l] != static_cast<W>(first + lanes->Offset(l))) return false;
  }
  return true;
}

bool FindAddress(const Warp& warp, const Instruction& i, RowAccess* row) {
  const auto displacement = static_cast<uint64_t>(i.displacement);
  if (i.op[0] == kNoOperand) {
    row->address = displacement;
    row->lanes.step = 0;
    return true;
  }
  const RowCode& code = *warp.block->program->rows;
  if (i.op[7] == 8) {
    const auto* base = reinterpret_cast<const uint64_t*>(warp.registers + i.op[0]);
    row->address = base[row->lanes.first] + displacement;
    return IsRow(base, row->bytes, code.steps8, &row->lanes);
  }
  const auto* base = reinterpret_cast<const uint32_t*>(warp.registers + i.op[0]);
  row->address = static_cast<uint32_t>(base[row->lanes.first] + displacement);
  return IsRow(base, row->bytes, code.steps4, &row->lanes);
}

bool InBuffer(uint8_t* data, uint64_t size, uint64_t extent, RowAccess* row) {
  row->lanes.host = data + row->address;
  return row->address <= size && extent <= size - row->address;
}

}  // namespace

bool FindRowAccess(Warp& warp, const Instruction& instruction, uint32_t mask, RowAccess* row) {
  Block& block = *warp.block;
  if (block.counts != nullptr || !warp.taint.empty()) return false;
  row->lanes.mask = mask;
  row->lanes.first = First(mask);
  if ((row->bytes & (row->bytes - 1)) != 0 || !FindAddress(warp, instruction, row)) return false;
  if ((row->address & (row->bytes - 1)) != 0) return false;
  row->space = instruction.space;
  if (row->space == Space::kGeneric) {
    row->space = GetWindow(row->address);
    if (row->space != Space::kGlobal) row->address &= ~kWindowMask;
  }
  const uint64_t extent = row->lanes.Offset(kLanes - 1 - static_cast<uint32_t>(std::countl_zero(mask))) + row->bytes;
  const bool reads = row->kind == AccessKind::kRead, uninitialised = block.launch->checks.uninitialised && reads;
  switch (row->space) {
    case Space::kShared:
      if (block.copies_under_way != 0 || (!reads && block.reads.any()) ||
          !InBuffer(block.shared.data() + warp.shared_base, block.shared_bytes, extent, row)) {
        return false;
      }
      row->address += warp.shared_base;
      return !uninitialised || AllWritten(block.shared_written.data(), row->address, extent);
    case Space::kParam:
      return reads &&
             InBuffer(const_cast<uint8_t*>(block.launch->parameters), block.program->parameter_bytes, extent, row);
    case Space::kGlobal:
    case Space::kConst: {
      const Region* region = row->region = FindRegion(block, row->address);
      if (region == nullptr || extent > region->size - (row->address - region->begin)) return false;
      if (!reads && region->read_only) return false;
      row->lanes.host = region->data + (row->address - region->begin);
      return !uninitialised || region->written == nullptr ||
             AllWritten(region->written, row->address - region->begin, extent);
    }
    case Space::kLocal:
    case Space::kGeneric:
      return false;
  }
  return false;
}

void CheckRowRaces(Warp& warp, const Instruction& instruction, const RowAccess& row, uint32_t same) {
  for (uint32_t left = row.lanes.mask; left != 0; left &= left - 1) {
    const auto l = First(left);
    CheckRaces(warp, instruction, row.kind, row.address + row.lanes.Offset(l), row.bytes, l, (same >> l & 1) != 0);
  }
}

void WroteRow(Warp& warp, const RowAccess& row) {
  Block& block = *warp.block;
  if (!block.launch->checks.uninitialised) return;
  const bool shared = row.space == Space::kShared;
  uint8_t* written = shared ? block.shared_written.data() : row.region->written;
  if (written == nullptr) return;
  const uint64_t begin = row.address - (shared ? 0 : row.region->begin);
  if (row.lanes.mask == ~0U && row.lanes.step != 0) return MarkWritten(written, begin, uint64_t{row.bytes} * kLanes);
  for (uint32_t left = row.lanes.mask; left != 0; left &= left - 1)
    MarkWritten(written, begin + row.lanes.Offset(First(left)), row.bytes);
}

}  // namespace kernpack::emulator
