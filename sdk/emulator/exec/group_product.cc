// wgmma.mma_async: D = A * B + D of 64 rows, 16 for each warp of the warpgroup.
#include <array>
#include <cstring>

#include "exec/access.h"
#include "exec/fault.h"
#include "exec/group_operand.h"
#include "exec/matrix_elements.h"
#include "exec/taint.h"
#include "exec/warp_group.h"

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

// Reads units of shared memory for a warp, and checks each.
class UnitReader {
 public:
  UnitReader(Warp* warp, const Instruction& i, const char* what, std::vector<uint32_t>* read)
      : warp_(*warp), i_(i), what_(what), read_(*read) {}

  // `*known`: bytes that have been written.
  const uint8_t* At(uint64_t address, bool* known) {
    Block& block = *warp_.block;
    constexpr uint32_t kBytes = GroupOperand::kUnit;
    if (address + kBytes > block.shared_bytes) {
      Fail(warp_, i_, 0, Fault::Kind::kIllegalAddress,
           Text("reads %s at 0x%llx; the block has %llu bytes of shared memory", what_,
                static_cast<unsigned long long>(address), static_cast<unsigned long long>(block.shared_bytes)));
    }
    const uint64_t place = warp_.shared_base + address;
    read_.push_back(static_cast<uint32_t>(place / AsyncReads::kUnit));
    if (block.copies_under_way != 0) {
      Access access;
      access.space = Space::kShared;
      access.kind = AccessKind::kRead;
      access.bytes = kBytes;
      access.mask = 1;
      access.address[0] = place;
      NeedArrived(warp_, i_, access);
    }
    if (block.launch->checks.races) {
      CheckRaces(warp_, i_, AccessKind::kRead, place, kBytes, 0, false);
      NeedFenced(warp_, i_, place, kBytes, 0);
    }
    *known = !block.launch->checks.uninitialised || AllWritten(block.shared_written.data(), place, kBytes);
    if (!*known) TaintFrom(warp_, i_, 0, place);
    return block.shared.data() + place;
  }

 private:
  Warp& warp_;
  const Instruction& i_;
  const char* const what_;
  std::vector<uint32_t>& read_;
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
      tiles_[w].rows = kRowsOfWarp, tiles_[w].depth = of_.depth, tiles_[w].a = of_.a, tiles_[w].d = of_.d;
      if ((of_.flags & kAInRegisters) != 0) {
        TakeA(w);
      } else {
        ReadA(w, &read.units);
      }
    }
    product_.reads = last_.block->reads.Begin(std::move(read));
    const uint32_t order = last_.block->launch->mma_order;
    const auto sum_tile = last_.block->program->rows->sum_tile;
    for (uint32_t block = 0; block < of_.columns / kColumns; ++block) {
      for (uint32_t w = 0; w < kGroupWarps; ++w) {
        Tile& tile = tiles_[w];
        std::memcpy(tile.of_b, of_b_[block], sizeof of_b_[block][0] * of_.depth);
        Gather(warps_[w], block, &tile);
        sum_tile(&tile, order);
        Scatter(warps_[w], block, tile);
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
  Tile tiles_[kGroupWarps];
  double of_b_[kMostBlocks][kMostDepth][kColumns];
  uint32_t unknown_rows_[kGroupWarps] = {};  // of A
  uint8_t unknown_columns_[kMostBlocks] = {};  // of B

  // Calls `put(row, k, value)` for each element of the units that `operand` has, and `unknown(row)` for rows with unwritten ones.
  template <class Put, class Unknown>
  void ReadUnits(Warp* warp, const GroupOperand& operand, Element element, const char* what, uint32_t first,
                 uint32_t rows, std::vector<uint32_t>* read, Put put, Unknown unknown) {
    UnitReader units(warp, i_, what, read);
    const uint32_t per_word = PerRegister(element), each = 4 * per_word;
    WithElement(element, [&](auto value) {
      operand.ForUnits(first, rows, of_.depth, [&](uint64_t address, uint32_t row, uint32_t k) {
        bool known = true;
        uint32_t words[4];
        std::memcpy(words, units.At(address, &known), sizeof words);
        for (uint32_t e = 0; e < each; ++e) {
          const double x = value(words[e / per_word], e % per_word);
          if (operand.transposed()) {
            put(row + e, k, x);
            if (!known) unknown(row + e);
          } else {
            put(row, k + e, x);
          }
        }
        if (!known) unknown(row);
      });
    });
  }

  void ReadB(std::vector<uint32_t>* read) {
    const GroupOperand operand(product_.operands.b, (of_.flags & kTransposesB) != 0, 4 / PerRegister(of_.b));
    const double sign = (of_.flags & kNegatesB) != 0 ? -1 : 1;
    ReadUnits(
        &last_, operand, of_.b, "B", 0, of_.columns, read,
        [&](uint32_t row, uint32_t k, double x) { of_b_[row / kColumns][k][row % kColumns] = sign * x; },
        [&](uint32_t row) { unknown_columns_[row / kColumns] |= static_cast<uint8_t>(1U << row % kColumns); });
  }
  void ReadA(uint32_t w, std::vector<uint32_t>* read) {
    const GroupOperand operand(product_.operands.a, (of_.flags & kTransposesA) != 0, 4 / PerRegister(of_.a));
    const double sign = (of_.flags & kNegatesA) != 0 ? -1 : 1;
    const uint32_t first = w * kRowsOfWarp;
    ReadUnits(
        &warps_[w], operand, of_.a, "A", first, kRowsOfWarp, read,
        [&](uint32_t row, uint32_t k, double x) { tiles_[w].of_a[row - first][k] = sign * x; },
        [&](uint32_t row) { unknown_rows_[w] |= 1U << (row - first); });
  }
  void TakeA(uint32_t w) {
    const uint32_t each = PerRegister(of_.a);
    const double sign = (of_.flags & kNegatesA) != 0 ? -1 : 1;
    WithElement(of_.a, [&](auto value) {
      for (uint32_t r = 0; r < 4; ++r) {
        for (uint32_t l = 0; l < kLanes; ++l) {
          for (uint32_t e = 0; e < each; ++e) {
            const MatrixPlace at = PlaceInA(kRowsOfWarp, l, r, e, each);
            tiles_[w].of_a[at.row][at.column] = sign * value(Words(warps_[w], of_.of_a[r])[l], e);
          }
          unknown_rows_[w] |= (Tainted(warps_[w], of_.of_a[r]) >> l & 1) << PlaceInA(kRowsOfWarp, l, r, 0, each).row;
        }
      }
    });
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
  const auto work = std::make_unique<ProductOfGroup>(last, product);  // 90 KiB
  work->Run();
  product->computed = true;
}

}  // namespace kernpack::emulator
