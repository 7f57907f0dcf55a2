#include "exec/matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "exec/access.h"
#include "exec/block_scales.h"
#include "exec/counts.h"
#include "exec/fault.h"
#include "exec/matrix_elements.h"
#include "exec/taint.h"
#include "ops/strip.h"

namespace kernpack::emulator {
namespace {

void NeedAllLanes(const Warp& warp, const Instruction& i, uint32_t mask) {
  if (mask == ~0U) return;
  Fail(warp, i, static_cast<uint32_t>(__builtin_ctz(mask)), Fault::Kind::kDivergentBarrier,
       Text("needs all 32 lanes of the warp, and only 0x%08x run it", mask));
}

double* Doubles(Warp& warp, uint32_t slot) { return reinterpret_cast<double*>(warp.registers + slot); }

// Calls `use` with what reads element `index` of a lane's register.
template <class F>
void WithReader(Element element, F use) {
  if (element == Element::kDouble) {
    return use([](Warp& warp, uint32_t slot, uint32_t lane, uint32_t) { return Doubles(warp, slot)[lane]; });
  }
  WithElement(element, [&](auto value) {
    use([value](Warp& warp, uint32_t slot, uint32_t lane, uint32_t index) -> double {
      return value(Words(warp, slot)[lane], index);
    });
  });
}

// Where an element of a lane's registers of B is.
MatrixPlace PlaceInB(uint32_t lane, uint32_t reg, uint32_t index, uint32_t each) {
  return {reg * 4 * each + lane % 4 * each + index, lane / 4};
}

struct Operands {
  uint32_t rows, depth;
  Element a, b, d;
  const uint32_t* registers[4];  // of D, A, B, C
  uint32_t counts[3];  // of D and C, A, B
  const uint32_t* scales;  // NULL: there are none
};

Operands GetOperands(const Warp& warp, const Instruction& i) {
  const uint32_t* extra = warp.block->program->extra.data() + i.extra;
  Operands out{};
  out.rows = extra[0];
  out.depth = extra[1];
  out.a = static_cast<Element>(extra[2]);
  out.b = static_cast<Element>(extra[3]);
  out.d = static_cast<Element>(extra[4]);
  out.counts[0] = out.rows * kColumns / kLanes / (out.d == Element::kHalf ? 2 : 1);
  out.counts[1] = out.rows * out.depth / kLanes / PerRegister(out.a);
  out.counts[2] = out.depth * kColumns / kLanes / PerRegister(out.b);
  out.registers[0] = extra + 5;
  out.registers[1] = out.registers[0] + out.counts[0];
  out.registers[2] = out.registers[1] + out.counts[1];
  out.registers[3] = out.registers[2] + out.counts[2];
  if (static_cast<MatrixKind>(i.variant) == MatrixKind::kScaled) out.scales = out.registers[3] + out.counts[0];
  return out;
}

void Gather(Warp& warp, const Operands& of, Tile* out) {
  out->rows = of.rows, out->depth = of.depth, out->a = of.a, out->d = of.d;
  const auto gather = [&](Element element, const uint32_t* registers, uint32_t count, auto place) {
    WithReader(element, [&](auto read) {
      const uint32_t each = PerRegister(element);
      for (uint32_t r = 0; r < count; ++r) {
        for (uint32_t l = 0; l < kLanes; ++l) {
          for (uint32_t e = 0; e < each; ++e) *place(l, r, e, each) = read(warp, registers[r], l, e);
        }
      }
    });
  };
  gather(of.a, of.registers[1], of.counts[1], [&](uint32_t l, uint32_t r, uint32_t e, uint32_t each) {
    const MatrixPlace at = PlaceInA(of.rows, l, r, e, each);
    return &out->of_a[at.row][at.column];
  });
  gather(of.b, of.registers[2], of.counts[2], [&](uint32_t l, uint32_t r, uint32_t e, uint32_t each) {
    const MatrixPlace at = PlaceInB(l, r, e, each);
    return &out->of_b[at.row][at.column];
  });
  gather(of.d, of.registers[3], of.counts[0], [&](uint32_t l, uint32_t r, uint32_t e, uint32_t each) {
    const MatrixPlace at = PlaceInC(l, r * each + e);
    return &out->sums[at.row][at.column];
  });
}

void Scatter(Warp& warp, const Instruction& i, const Operands& of, const double (*sums)[kColumns]) {
  const uint32_t each = PerRegister(of.d);
  for (uint32_t l = 0; l < kLanes; ++l) {
    for (uint32_t n = 0; n < of.counts[0] * each; ++n) {
      const MatrixPlace at = PlaceInC(l, n);
      const double sum = sums[at.row][at.column];
      const uint32_t slot = of.registers[0][n / each];
      if (slot == kNoOperand) continue;
      if (of.d == Element::kDouble) {
        Doubles(warp, slot)[l] = sum;
      } else {
        PutSum(of.d, (i.flags & kSat) != 0, sum, n, &Words(warp, slot)[l]);
      }
    }
  }
}

// Marks results that are computed from unwritten words: a row of D from a row of A, a column from a column of B.
void CarryTaint(Warp& warp, const Operands& of) {
  if (warp.taint.empty()) return;
  uint32_t rows = 0, columns = 0, elements[kMostRows] = {};
  if (of.scales != nullptr) AddUnknownScales(warp, of.scales, &rows, &columns);
  for (uint32_t l = 0; l < kLanes; ++l) {
    for (uint32_t r = 0; r < of.counts[1]; ++r)
      rows |= (Tainted(warp, of.registers[1][r]) >> l & 1) << PlaceInA(of.rows, l, r, 0, 1).row;
    for (uint32_t r = 0; r < of.counts[2]; ++r)
      columns |= (Tainted(warp, of.registers[2][r]) >> l & 1) << PlaceInB(l, r, 0, 1).column;
    for (uint32_t n = 0; n < of.counts[0] * PerRegister(of.d); ++n) {
      const MatrixPlace at = PlaceInC(l, n);
      elements[at.row] |= (Tainted(warp, of.registers[3][n / PerRegister(of.d)]) >> l & 1) << at.column;
    }
  }
  for (uint32_t r = 0; r < of.counts[0]; ++r) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < kLanes; ++l) {
      for (uint32_t e = 0; e < PerRegister(of.d); ++e) {
        const MatrixPlace at = PlaceInC(l, r * PerRegister(of.d) + e);
        lanes |= ((rows >> at.row | columns >> at.column | elements[at.row] >> at.column) & 1) << l;
      }
    }
    SetTaint(warp, of.registers[0][r], ~0U, lanes);
  }
}

}  // namespace

void PutSum(Element element, bool clamp, double sum, uint32_t number, uint32_t* word) {
  if (element == Element::kHalf) {
    const uint32_t shift = number % 2 * 16;
    *word = (*word & ~(0xffffU << shift)) | uint32_t{Plain::Half::Write(sum)} << shift;
  } else if (element == Element::kFloat) {
    *word = std::isnan(sum) ? 0x7fffffffU : __builtin_bit_cast(uint32_t, static_cast<float>(sum));
  } else {
    *word = clamp ? static_cast<uint32_t>(static_cast<int32_t>(std::clamp(sum, -0x1p31, 0x1p31 - 1)))
                  : static_cast<uint32_t>(static_cast<int64_t>(sum));
  }
}

namespace {

// The usual product, for which there is fast code. False: nothing was done.
bool MultiplyStrip(Warp& warp, const Operands& of) {
  const bool halves = of.d == Element::kHalf;
  if (warp.block->launch->mma_order != kOrderOfH200 || !HasStrips(of.a) || of.a != of.b || of.rows != kStripRows ||
      (!halves && of.d != Element::kFloat)) {
    return false;
  }
  const StripCode& code = *warp.block->program->rows->strips;
  const uint32_t* of_a[4];
  for (uint32_t r = 0; r < of.counts[1]; ++r) of_a[r] = Words(warp, of.registers[1][r]);
  StripA a;
  code.take_a(of_a, of.counts[1] / 2, of.a, false, &a);
  if (a.special) return false;
  constexpr uint32_t kMost = kMostDepth * kColumns;
  alignas(64) float fractions[kMost];
  alignas(64) int32_t exponents[kMost];
  uint32_t words[kMost];
  const uint32_t count = of.counts[2] * kLanes;
  for (uint32_t r = 0; r < of.counts[2]; ++r)
    std::copy_n(Words(warp, of.registers[2][r]), kLanes, words + size_t{r} * kLanes);
  if (code.split(words, count, count, of.b, false, fractions, exponents)) return false;
  StripSums sums{of.d, {}, {}};
  for (uint32_t r = 0; r < of.counts[0]; ++r) {
    sums.from[r] = Words(warp, of.registers[3][r]);
    sums.to[r] = of.registers[0][r] == kNoOperand ? nullptr : Words(warp, of.registers[0][r]);
  }
  return code.sum(a, {fractions, exponents, 4, kLanes}, of.depth, sums);
}

}  // namespace

void RunMultiply(Warp& warp, const Instruction& i, uint32_t mask) {
  NeedAllLanes(warp, i, mask);
  const Operands of = GetOperands(warp, i);
  if (MultiplyStrip(warp, of)) return CarryTaint(warp, of);
  Tile tile;
  Gather(warp, of, &tile);
  tile.of_kind = static_cast<MatrixKind>(i.variant) != MatrixKind::kPlain;
  if (of.scales != nullptr) ScaleTile(warp, i, of.scales, &tile);
  warp.block->program->rows->sum_tile(&tile, warp.block->launch->mma_order);
  CarryTaint(warp, of);
  Scatter(warp, i, of, tile.sums);
}

namespace {

// The memory of the rows: 8 * count lanes give their addresses.
Access Rows(Warp& warp, const Instruction& i, uint32_t mask, AccessKind kind) {
  NeedAllLanes(warp, i, mask);
  uint64_t addresses[kLanes];
  Addresses(warp, i, addresses);
  uint32_t remaining = i.count == 4 ? ~0U : (1U << (8 * i.count)) - 1;
  const uint32_t all = remaining;
  Access access;
  access.kind = kind;
  access.bytes = 16;
  Locate(warp, i, addresses, &remaining, &access);
  CountAccess(warp, i, access);
  if (access.space != Space::kShared || access.mask != all) {
    const uint32_t lane = access.space != Space::kShared ? 0 : static_cast<uint32_t>(__builtin_ctz(remaining));
    Fail(warp, i, lane, Fault::Kind::kIllegalAddress, "has an address that isn't of shared memory");
  }
  return access;
}

// The bytes of a row that the half `index` of a lane's register is, and in which row.
uint32_t GetRow(const Instruction& i, uint32_t matrix, uint32_t lane, uint32_t index) {
  return matrix * 8 + (i.variant == 1 ? lane % 4 * 2 + index : lane / 4);
}
uint32_t GetByte(const Instruction& i, uint32_t lane, uint32_t index) {
  return 2 * (i.variant == 1 ? lane / 4 : lane % 4 * 2 + index);
}

}  // namespace

void RunLoadMatrix(Warp& warp, const Instruction& i, uint32_t mask) {
  const Access access = Rows(warp, i, mask, AccessKind::kRead);
  if (RacesChecked(warp, access.space)) {
    for (uint32_t l = 0; l < 8U * i.count; ++l) CheckRaces(warp, i, access, l, false);
  }
  const uint32_t* slots = warp.block->program->extra.data() + i.extra;
  const uint8_t* written = warp.block->shared_written.data();
  for (uint32_t matrix = 0; matrix < i.count; ++matrix) {
    if (slots[matrix] == kNoOperand) continue;
    uint16_t rows[8][8];
    for (uint32_t row = 0; row < 8; ++row) {
      std::memcpy(rows[row], access.host[matrix * 8 + row], sizeof rows[row]);
      if (i.bytes != 16) SpreadUnit(reinterpret_cast<uint8_t*>(rows[row]), i.bytes, 0);
    }
    uint32_t unwritten = 0;
    for (uint32_t l = 0; access.unwritten != 0 && l < kLanes; ++l) {
      for (uint32_t half = 0; half < 2; ++half) {
        // Two elements of 4 bits are in a byte, and of 6 bits in the two bytes from their first one on.
        const uint32_t row = GetRow(i, matrix, l, half),
                       byte = GetByte(i, l, half) * i.bytes / (i.bytes == 16 ? 16 : 8);
        const bool known =
            (access.unwritten >> row & 1) == 0 || AllWritten(written, access.address[row] + byte, i.bytes == 4 ? 1 : 2);
        unwritten |= uint32_t(!known) << l;
      }
    }
    SetTaint(warp, slots[matrix], ~0U, unwritten);
    uint32_t* const out = Words(warp, slots[matrix]);
    if (i.variant != 1) {
      std::memcpy(out, rows, sizeof rows);
      continue;
    }
    for (uint32_t l = 0; l < kLanes; ++l) out[l] = rows[l % 4 * 2][l / 4] | uint32_t{rows[l % 4 * 2 + 1][l / 4]} << 16;
  }
}

void RunStoreMatrix(Warp& warp, const Instruction& i, uint32_t mask) {
  Access access = Rows(warp, i, mask, AccessKind::kWrite);
  const uint32_t* slots = warp.block->program->extra.data() + i.extra;
  uint8_t rows[kLanes][16];
  uint32_t tainted = 0;
  for (uint32_t matrix = 0; matrix < i.count; ++matrix) {
    for (uint32_t l = 0; l < kLanes; ++l) {
      for (uint32_t half = 0; half < 2; ++half) {
        const auto bits = static_cast<uint16_t>(Words(warp, slots[matrix])[l] >> (16 * half));
        const uint32_t row = GetRow(i, matrix, l, half);
        std::memcpy(rows[row] + GetByte(i, l, half), &bits, 2);
        tainted |= (Tainted(warp, slots[matrix]) >> l & 1) << row;
      }
    }
  }
  const bool races = RacesChecked(warp, access.space);
  for (uint32_t l = 0; l < 8U * i.count; ++l) {
    if (races) CheckRaces(warp, i, access, l, std::memcmp(rows[l], access.host[l], 16) == 0);
    std::memcpy(access.host[l], rows[l], 16);
  }
  access.mask &= ~tainted;  // as good as not written
  Wrote(warp, i, access);
}

}  // namespace kernpack::emulator
