// wgmma.mma_async: D = A * B + D of 64 rows, 16 for each warp of the warpgroup.
#include <array>
#include <cstring>
#include <utility>

#include "exec/access.h"
#include "exec/fault.h"
#include "exec/matrix_elements.h"
#include "exec/taint.h"
#include "exec/unit_reader.h"
#include "exec/warp_group.h"
#include "ops/strip.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kMostBlocks = 256 / kColumns, kRowsOfWarp = 16;

struct ProductSizes {
  uint32_t columns, depth;
  Element a, b, d;
  uint32_t flags;
  const uint32_t* of_d;  // registers
  const uint32_t* of_a;
  uint32_t sums;  // registers of D

  explicit ProductSizes(const uint32_t* extra)
      : columns(extra[0]),
        depth(extra[1]),
        a(static_cast<Element>(extra[2])),
        b(static_cast<Element>(extra[3])),
        d(static_cast<Element>(extra[4])),
        flags(extra[5]),
        of_d(extra + 6),
        of_a(extra + 6 + columns / 2 / PerRegister(d)),
        sums(columns / 2 / PerRegister(d)) {}
};

class ProductOfGroup {
 public:
  ProductOfGroup(Warp* last, GroupProduct* product)
      : last_(*last),
        warps_(last->block->warps.data() + last->index - last->in_block % kGroupWarps),
        i_(*product->operands.instruction),
        product_(*product),
        of_(last->block->program->extra.data() + i_.extra) {}

  void Run() {
    AsyncRead read{last_.index, 0, i_.statement, "wgmma.wait_group", {}};
    ReadB(&read.units);
    for (uint32_t w = 0; w < kGroupWarps; ++w) {
      if ((of_.flags & kAInRegisters) != 0) {
        NoteUnknownA(w);
      } else {
        ReadA(w, &read.units);
      }
    }
    product_.reads = last_.block->reads.Begin(std::move(read));
    if (!SumStrips()) {
      for (uint32_t w = 0; w < kGroupWarps; ++w) {
        FillA(w);
        for (uint32_t block = 0; block < of_.columns / kColumns; ++block) SumBlock(w, block);
      }
    }
    for (uint32_t w = 0; w < kGroupWarps; ++w) CarryTaint(&warps_[w], w);
  }

 private:
  Warp& last_;
  Warp* const warps_;
  const Instruction& i_;
  GroupProduct& product_;
  const ProductSizes of_;
  uint32_t a_[kGroupWarps][kRowsOfWarp][kWordsAlongK];
  uint32_t b_[kMostBlocks * kColumns][kWordsAlongK];
  alignas(64) float fractions_[kMostBlocks * kColumns * kMostDepth / 2];  // of B, for fast code
  alignas(64) int32_t exponents_[kMostBlocks * kColumns * kMostDepth / 2];
  Tile tile_;
  uint32_t unknown_rows_[kGroupWarps] = {};  // of A
  uint8_t unknown_columns_[kMostBlocks] = {};  // of B

  void ReadB(std::vector<uint32_t>* read) {
    const uint32_t bytes = 4 / PerRegister(of_.b);
    UnitReader(&last_, i_, 0, "B", read)
        .Read(GroupOperand(product_.operands.b, (of_.flags & kTransposesB) != 0, bytes), bytes, 0, of_.columns,
              reinterpret_cast<uint8_t*>(b_),
              [&](uint32_t row) { unknown_columns_[row / kColumns] |= static_cast<uint8_t>(1U << row % kColumns); });
  }
  void ReadA(uint32_t w, std::vector<uint32_t>* read) {
    const uint32_t bytes = 4 / PerRegister(of_.a);
    // The warp hands over the clock of its issue to those that wait for the product. It may have gone on since.
    const uint32_t now = std::exchange(warps_[w].clock, product_.issue_clocks[w]);
    UnitReader(&warps_[w], i_, 0, "A", read)
        .Read(GroupOperand(product_.operands.a, (of_.flags & kTransposesA) != 0, bytes), bytes, w * kRowsOfWarp,
              kRowsOfWarp, reinterpret_cast<uint8_t*>(a_[w]), [&](uint32_t row) { unknown_rows_[w] |= 1U << row; });
    warps_[w].clock = now;
  }
  void NoteUnknownA(uint32_t w) {
    for (uint32_t r = 0; r < 4; ++r) {
      const uint32_t lanes = Tainted(warps_[w], of_.of_a[r]);
      for (uint32_t left = lanes; left != 0; left &= left - 1)
        unknown_rows_[w] |= 1U << PlaceInA(kRowsOfWarp, First(left), r, 0, PerRegister(of_.a)).row;
    }
  }

  bool negates_a() const { return (of_.flags & kNegatesA) != 0; }
  bool negates_b() const { return (of_.flags & kNegatesB) != 0; }

  // The usual product, for which there is fast code; blocks of 8 columns that it can't compute are done by Tiles.
  bool SumStrips() {
    if (last_.block->launch->mma_order != kOrderOfH200 || !HasStrips(of_.a) || of_.a != of_.b ||
        (of_.d != Element::kHalf && of_.d != Element::kFloat)) {
      return false;
    }
    const StripCode& code = *last_.block->program->rows->strips;
    const uint32_t words = of_.columns * kWordsAlongK;
    const bool special = code.split(b_[0], words, kWordsAlongK, of_.b, negates_b(), fractions_, exponents_);
    const uint32_t count = of_.sums / (of_.columns / kColumns);  // registers of a block
    for (uint32_t w = 0; w < kGroupWarps; ++w) {
      StripA a;
      if ((of_.flags & kAInRegisters) != 0) {
        const uint32_t* registers[4];
        for (uint32_t r = 0; r < 4; ++r) registers[r] = Words(warps_[w], of_.of_a[r]);
        code.take_a(registers, 2, of_.a, negates_a(), &a);
      } else {
        code.read_a(a_[w][0], of_.a, negates_a(), &a);
      }
      bool has_tile = false;
      for (uint32_t block = 0; block < of_.columns / kColumns; ++block) {
        StripSums sums{of_.d, {}, {}};
        for (uint32_t r = 0; r < count; ++r) {
          sums.to[r] = Words(warps_[w], of_.of_d[block * count + r]);
          sums.from[r] = product_.operands.keeps ? sums.to[r] : nullptr;
        }
        const size_t at = size_t{block} * kColumns * of_.depth;
        if (!special && !a.special && code.sum(a, {fractions_ + at, exponents_ + at, of_.depth, 4}, of_.depth, sums)) {
          continue;
        }
        if (!has_tile) FillA(w);
        has_tile = true;
        SumBlock(w, block);
      }
    }
    return true;
  }

  // Element k of a row of words.
  template <class F>
  void WithElements(Element element, const uint32_t* words, F put) {
    const uint32_t each = PerRegister(element);
    WithElement(element, [&](auto value) {
      for (uint32_t k = 0; k < of_.depth; ++k) put(k, value(words[k / each], k % each));
    });
  }
  void FillA(uint32_t w) {
    tile_.rows = kRowsOfWarp, tile_.depth = of_.depth, tile_.a = of_.a, tile_.d = of_.d;
    const double sign = negates_a() ? -1 : 1;
    if ((of_.flags & kAInRegisters) == 0) {
      for (uint32_t row = 0; row < kRowsOfWarp; ++row)
        WithElements(of_.a, a_[w][row], [&](uint32_t k, double x) { tile_.of_a[row][k] = sign * x; });
      return;
    }
    const uint32_t each = PerRegister(of_.a);
    WithElement(of_.a, [&](auto value) {
      for (uint32_t r = 0; r < 4; ++r) {
        for (uint32_t l = 0; l < kLanes; ++l) {
          for (uint32_t e = 0; e < each; ++e) {
            const MatrixPlace at = PlaceInA(kRowsOfWarp, l, r, e, each);
            tile_.of_a[at.row][at.column] = sign * value(Words(warps_[w], of_.of_a[r])[l], e);
          }
        }
      }
    });
  }
  void SumBlock(uint32_t w, uint32_t block) {
    const double sign = negates_b() ? -1 : 1;
    for (uint32_t c = 0; c < kColumns; ++c)
      WithElements(of_.b, b_[block * kColumns + c], [&](uint32_t k, double x) { tile_.of_b[k][c] = sign * x; });
    Gather(warps_[w], block, &tile_);
    last_.block->program->rows->sum_tile(&tile_, last_.block->launch->mma_order);
    Scatter(warps_[w], block, tile_);
  }

  // A block's four sums of each lane are as those of mma.
  void Gather(Warp& warp, uint32_t block, Tile* tile) {
    if (!product_.operands.keeps) {
      std::memset(tile->sums, 0, sizeof tile->sums);
      return;
    }
    const uint32_t each = PerRegister(of_.d);
    WithElement(of_.d, [&](auto value) {
      for (uint32_t l = 0; l < kLanes; ++l) {
        for (uint32_t n = 0; n < 4; ++n) {
          const MatrixPlace at = PlaceInC(l, n);
          tile->sums[at.row][at.column] = value(Words(warp, of_.of_d[(block * 4 + n) / each])[l], n % each);
        }
      }
    });
  }
  void Scatter(Warp& warp, uint32_t block, const Tile& tile) {
    const uint32_t each = PerRegister(of_.d);
    for (uint32_t n = 0; n < 4; ++n) {
      uint32_t* const words = Words(warp, of_.of_d[(block * 4 + n) / each]);
      for (uint32_t l = 0; l < kLanes; ++l) {
        const MatrixPlace at = PlaceInC(l, n);
        PutSum(of_.d, (i_.flags & kSat) != 0, tile.sums[at.row][at.column], n, &words[l]);
      }
    }
  }

  // Marks results that are computed from unwritten words: a row of D from a row of A, a column from a column of B.
  void CarryTaint(Warp* warp, uint32_t w) {
    uint32_t any = unknown_rows_[w];
    for (const uint8_t columns : unknown_columns_) any |= columns;
    if (any == 0 && warp->taint.empty()) return;
    for (uint32_t r = 0; r < of_.sums; ++r) {
      const uint32_t n = r * PerRegister(of_.d);
      uint32_t lanes = product_.operands.keeps ? Tainted(*warp, of_.of_d[r]) : 0;
      for (uint32_t l = 0; l < kLanes; ++l) {
        for (uint32_t e = 0; e < PerRegister(of_.d); ++e) {
          const MatrixPlace at = PlaceInC(l, n % 4 + e);
          lanes |= ((unknown_rows_[w] >> at.row | unknown_columns_[n / 4] >> at.column) & 1U) << l;
        }
      }
      SetTaint(*warp, of_.of_d[r], ~0U, lanes);
      if (lanes != 0) warp->taint_statement = i_.statement;
    }
  }
};

}  // namespace

void ComputeProduct(Warp* last, GroupProduct* product) {
  const auto work = std::make_unique<ProductOfGroup>(last, product);  // 50 KiB
  work->Run();
  product->computed = true;
}

}  // namespace kernpack::emulator
