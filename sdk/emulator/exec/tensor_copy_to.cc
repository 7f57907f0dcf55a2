// tcgen05.cp: from shared memory to tensor memory.
#include <cstring>

#include "exec/fault.h"
#include "exec/tensor_form.h"
#include "exec/tensor_memory.h"
#include "exec/unit_reader.h"

namespace kernpack::emulator {
namespace {

// The rows of shared memory, the units of 16 bytes in each, and the lanes that get a row (PTX ISA 9.0, 9.7.16.8.2).
struct CopyShape {
  uint32_t rows, units;
};
CopyShape GetCopyShape(TensorCopyShape shape) {
  switch (shape) {
    case TensorCopyShape::k128x256b:
      return {128, 2};
    case TensorCopyShape::k128x128b:
      return {128, 1};
    case TensorCopyShape::k64x128b0213:
    case TensorCopyShape::k64x128b0123:
      return {64, 1};
    case TensorCopyShape::k32x128b:
      return {32, 1};
  }
  return {};
}
// Of copy `n` of a row.
uint32_t LaneOfCopy(TensorCopyShape shape, uint32_t row, uint32_t n) {
  if (shape == TensorCopyShape::k64x128b0213) return row + 64 * n;
  if (shape == TensorCopyShape::k64x128b0123) return row % 32 + row / 32 * 64 + 32 * n;
  return row + 32 * n;
}

void CopyToTensor(Warp* warp, const Instruction& i, uint32_t lane) {
  TensorMemory& memory = GetTensorMemory(*warp);
  const TensorOperands operands(*warp, i, lane);
  const auto shape = static_cast<TensorCopyShape>(i.variant);
  const CopyShape of = GetCopyShape(shape);
  const uint32_t address = operands.Word(0) + warp->block->program->extra[i.extra];
  const uint32_t first = address & 0xffff, at_lane = address >> 16 & 0x3fff;
  if (at_lane != 0) {
    Fail(*warp, i, lane, Fault::Kind::kIllegalAddress,
         Text("has an address at lane %u of tensor memory; expected 0", at_lane));
  }
  constexpr uint32_t kWords = GroupOperand::kUnit / 4;
  const auto number = static_cast<uint32_t>(memory.products.size()) + 1;
  for (uint32_t c = first; c < first + of.units * kWords; ++c) {
    for (uint32_t strip = 0; strip < kTensorLanes / kStripLanes; ++strip) {
      NeedTensorCell(*warp, i, lane, strip, c, TensorUse::kCopy);
      memory.Cell(strip, c).writer = number;
    }
  }
  AsyncRead read{warp->index, lane, i.statement, "a tcgen05.commit and a wait for its mbarrier", {}};
  UnitReader reader(warp, i, lane, "the matrix", &read.units);
  const GroupOperand matrix(operands.Descriptor(1, "the matrix"), false, 1);
  matrix.ForUnits(0, of.rows, of.units * GroupOperand::kUnit, [&](uint64_t from, uint32_t row, uint32_t byte) {
    bool known = true;
    uint32_t words[kWords];
    std::memcpy(words, reader.At(from, matrix.swizzle(), &known), sizeof words);
    for (uint32_t copy = 0; copy < kTensorLanes / of.rows; ++copy) {
      const uint32_t to = LaneOfCopy(shape, row, copy);
      const auto bit = static_cast<uint16_t>(1U << to % kStripLanes);
      for (uint32_t w = 0; w < kWords; ++w) {
        memory.At(to, first + byte / 4 + w) = words[w];
        uint16_t& written = memory.Cell(to / kStripLanes, first + byte / 4 + w).written;
        written = static_cast<uint16_t>(known ? written | bit : written & ~bit);
      }
    }
  });
  TensorProduct& product = memory.products.emplace_back();
  product.warp = warp->index, product.lane = lane, product.statement = i.statement;
  product.reads = warp->block->reads.Begin(std::move(read));
}

}  // namespace

void RunTensorCopy(Warp& warp, const Instruction& i, uint32_t mask) {
  for (uint32_t left = mask; left != 0; left &= left - 1) CopyToTensor(&warp, i, First(left));
  ++warp.clock;
  ++warp.effects;
}

}  // namespace kernpack::emulator
