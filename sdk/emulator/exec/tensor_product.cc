// tcgen05.mma: D = A * B + D, with D in tensor memory; and tcgen05.commit.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "exec/bulk_access.h"
#include "exec/fault.h"
#include "exec/matrix_elements.h"
#include "exec/taint.h"
#include "exec/tensor_form.h"
#include "exec/tensor_memory.h"
#include "exec/unit_reader.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kMostTensorColumns = 256;  // of D
constexpr uint32_t kCopiesOfScales = kTensorLanes / kLanes;
constexpr uint32_t kFactorColumns = 8;  // of A in tensor memory: 32 bytes of a row
constexpr uint32_t kStrips = kTensorLanes / kStripLanes;

// The product that one thread issues.
class ProductInTensor {
 public:
  ProductInTensor(Warp* warp, const Instruction& i, uint32_t lane)
      : warp_(*warp),
        i_(i),
        lane_(lane),
        memory_(GetTensorMemory(*warp)),
        operands_(*warp, i, lane),
        scales_(warp->block->program->extra[i.extra + 2]),
        form_(operands_.Form(scales_)) {}

  void Run() {
    const uint32_t* const extra = warp_.block->program->extra.data() + i_.extra;
    const uint32_t d = operands_.Word(0) + extra[0];
    const uint32_t keeps = *reinterpret_cast<const uint32_t*>(warp_.registers + i_.op[4]) >> lane_ & 1;
    keeps_ = (keeps != 0) != ((i_.flags & kNegateC) != 0);
    scale_of_d_ = std::ldexp(1.0F, -static_cast<int>(extra[5]));
    for (uint32_t w = 0; w < kTensorLanes / kLanes && extra[6] != kNoOperand; ++w) {
      if (!warp_.taint.empty()) NeedUntainted(warp_, i_, extra[6 + w], 1U << lane_, "takes an operand from");
      left_out_[w] = Words(warp_, extra[6 + w])[lane_];
    }
    first_lane_ = d >> 16;
    column_ = d & 0xffff;
    if (first_lane_ != 0 && (form_.rows == 128 || first_lane_ != kStripLanes)) {
      Fail(warp_, i_, lane_, Fault::Kind::kIllegalAddress,
           Text("has D at lane %u; expected 0", first_lane_) + (form_.rows == 64 ? " or 16" : ""));
    }
    number_ = static_cast<uint32_t>(memory_.products.size()) + 1;
    ForCells();
    AsyncRead read{warp_.index, lane_, i_.statement, "a tcgen05.commit and a wait for its mbarrier", {}};
    ReadShared(2, "B", form_.b, form_.transposes_b, form_.columns, b_, unknown_columns_, &read.units);
    if (i_.count == 2) {
      TakeA(operands_.Word(1) + extra[1]);
    } else {
      ReadShared(1, "A", form_.a, form_.transposes_a, form_.rows, a_, unknown_rows_, &read.units);
    }
    if (scales_ != 0) {
      TakeScales(operands_.Word(5) + extra[3], "A", form_.rows, form_.scale_of_a, scales_of_a_, unknown_rows_);
      TakeScales(operands_.Word(6) + extra[4], "B", form_.columns, form_.scale_of_b, scales_of_b_, unknown_columns_);
    }
    TensorProduct& product = memory_.products.emplace_back();
    product.warp = warp_.index, product.lane = lane_, product.statement = i_.statement;
    product.reads = warp_.block->reads.Begin(std::move(read));
    Sum();
  }

 private:
  Warp& warp_;
  const Instruction& i_;
  const uint32_t lane_;
  TensorMemory& memory_;
  const TensorOperands operands_;
  const uint32_t scales_;  // of a row
  const TensorForm form_;
  bool keeps_ = false;
  float scale_of_d_ = 1;  // before it's added to
  uint32_t left_out_[kTensorLanes / kLanes] = {};  // a bit for each lane
  uint32_t first_lane_ = 0, column_ = 0, number_ = 0;
  uint32_t a_[kTensorLanes][kWordsAlongK];
  uint32_t b_[kMostTensorColumns][kWordsAlongK];
  alignas(64) float fractions_[kMostTensorColumns * kMostDepth / 2];  // of B, for fast code
  alignas(64) int32_t exponents_[kMostTensorColumns * kMostDepth / 2];
  Tile tile_;
  double scales_of_a_[kTensorLanes][4], scales_of_b_[kMostTensorColumns][4];
  bool unknown_rows_[kTensorLanes] = {};
  bool unknown_columns_[kMostTensorColumns] = {};

  // The strip of lanes that rows 16 n to 16 n + 15 are in: all of them one after the other, or the first or second half of each warp's.
  uint32_t StripOf(uint32_t n) const { return form_.rows == kTensorLanes ? n : 2 * n + first_lane_ / kStripLanes; }
  uint32_t Strips() const { return form_.rows / kStripLanes; }

  // The rows of a strip that are left out.
  uint32_t LeftOut(uint32_t n) const {
    const uint32_t strip = StripOf(n);
    return left_out_[strip / 2] >> strip % 2 * kStripLanes & 0xffff;
  }

  void ForCells() {
    for (uint32_t c = column_; c < column_ + form_.columns; ++c) {
      for (uint32_t n = 0; n < Strips(); ++n) {
        if (LeftOut(n) == 0xffff) continue;
        NeedTensorCell(warp_, i_, lane_, StripOf(n), c, TensorUse::kSum);
        memory_.Cell(StripOf(n), c).writer = number_;
      }
    }
  }

  void ReadShared(int operand, const char* what, Element element, bool transposed, uint32_t rows,
                  uint32_t (*out)[kWordsAlongK], bool* unknown, std::vector<uint32_t>* units) {
    const uint32_t bytes = std::max(1U, 4 / PerRegister(element)), bits = TensorForm::BitsInUnit(element);
    UnitReader(&warp_, i_, lane_, what, units, bits * 2)
        .Read(GroupOperand(operands_.Descriptor(operand, what), transposed, bytes), bytes, 0, rows,
              reinterpret_cast<uint8_t*>(out), [&](uint32_t row) { unknown[row] = true; });
    if (bits == 8) return;
    for (uint32_t row = 0; row < rows; ++row) {
      auto* const unit = reinterpret_cast<uint8_t*>(out[row]);
      for (uint32_t n = 0; n < kWordsAlongK * 4 / GroupOperand::kUnit; ++n)
        SpreadUnit(unit + size_t{n} * GroupOperand::kUnit, bits, bits == 4 ? 2 : 0);
    }
  }
  // The scales of a row are in one column, in lane row % 32 and in each 32nd lane after it; the rows from 32 on are in the next column
  // (PTX ISA 9.0, 9.7.16.10.7.2). The address' upper bits may name the byte, which the instruction descriptor does.
  void TakeScales(uint32_t address, const char* what, uint32_t rows, uint32_t byte, double (*out)[4], bool* unknown) {
    const uint32_t at_lane = address >> 16 & 0x3fff, first = address & 0xffff;
    if (at_lane != 0) {
      Fail(warp_, i_, lane_, Fault::Kind::kIllegalAddress,
           Text("has the scales of %s at lane %u of tensor memory; expected 0", what, at_lane));
    }
    for (uint32_t c = first; c < first + (rows + kLanes - 1) / kLanes; ++c) {
      for (uint32_t strip = 0; strip < kStrips; ++strip) {
        NeedTensorCell(warp_, i_, lane_, strip, c, TensorUse::kScale);
        memory_.Cell(strip, c).reader = number_;
      }
    }
    const uint32_t mask = static_cast<uint32_t>((uint64_t{1} << (8 * scales_)) - 1);
    for (uint32_t row = 0; row < rows; ++row) {
      const uint32_t column = first + row / kLanes, own = row % kLanes;
      const uint32_t word = memory_.At(own, column) >> (8 * byte) & mask;
      for (uint32_t copy = 0; copy < kCopiesOfScales; ++copy) {
        const uint32_t lane = copy * kLanes + own;
        if ((memory_.Cell(lane / kStripLanes, column).written >> lane % kStripLanes & 1) == 0) {
          unknown[row] = true;
        } else if ((memory_.At(lane, column) >> (8 * byte) & mask) != word && !unknown[row]) {
          Fail(
              warp_, i_, lane_, Fault::Kind::kIllegalAddress,
              Text(
                  "has other scales of %s at lane %u, column %u of tensor memory than at lane %u: each 32 lanes need a "
                  "copy of the scales (tcgen05.cp with .warpx4 makes them)",
                  what, lane, column, own));
        }
      }
      for (uint32_t n = 0; n < scales_; ++n)
        out[row][n] = ReadScale(form_.scale_type, static_cast<uint8_t>(word >> (8 * n)));
    }
  }

  // A in tensor memory, whose row n is in lane n.
  void TakeA(uint32_t address) {
    if (form_.rows != kTensorLanes) operands_.Wrong("A in tensor memory isn't emulated if M is 64");
    if (form_.transposes_a) operands_.Wrong("A in tensor memory can't be transposed (bit 15)");
    if (TensorForm::BitsInUnit(form_.a) != 8) {
      operands_.Wrong(
          "A in tensor memory isn't emulated if the kind takes 8, 6 and 4 bits, and A (bits 7 to 9) has 6 or 4");
    }
    if (address >> 16 != 0) {
      Fail(warp_, i_, lane_, Fault::Kind::kIllegalAddress,
           Text("has A in tensor memory at lane %u; expected 0", address >> 16));
    }
    for (uint32_t c = 0; c < kFactorColumns; ++c) {
      for (uint32_t strip = 0; strip < kStrips; ++strip) {
        NeedTensorCell(warp_, i_, lane_, strip, address + c, TensorUse::kFactor);
        TensorCell& cell = memory_.Cell(strip, address + c);
        cell.reader = number_;
        for (uint32_t l = 0; l < kStripLanes; ++l) {
          const uint32_t row = strip * kStripLanes + l;
          a_[row][c] = memory_.At(row, address + c);
          unknown_rows_[row] = unknown_rows_[row] || (cell.written >> l & 1) == 0;
        }
      }
    }
  }

  void Sum() {
    const bool fast = warp_.block->launch->mma_order == kOrderOfH200 && HasStrips(form_.a);
    const StripCode& code = *warp_.block->program->rows->strips;
    const bool special = fast && code.split(b_[0], form_.columns * kWordsAlongK, kWordsAlongK, form_.a, form_.negates_b,
                                            fractions_, exponents_);
    for (uint32_t n = 0; n < Strips(); ++n) {
      StripA a;
      if (fast) code.read_a(a_[n * kStripLanes], form_.a, form_.negates_a, &a);
      for (uint32_t first = 0; first < form_.columns; first += kColumns) {
        if (!fast || special || a.special || !SumFast(n, first, code, a)) SumTile(n, first);
        NoteWritten(n, first);
      }
    }
  }

  uint32_t& SumAt(uint32_t n, uint32_t row, uint32_t column) {
    return memory_.At(StripOf(n) * kStripLanes + row, column_ + column);
  }

  uint32_t Scaled(uint32_t sum) const {
    if (scale_of_d_ == 1) return sum;
    return __builtin_bit_cast(uint32_t, __builtin_bit_cast(float, sum) * scale_of_d_);
  }

  bool SumFast(uint32_t n, uint32_t first, const StripCode& code, const StripA& a) {
    uint32_t words[4][kLanes];
    StripSums sums{Element::kFloat, {}, {}};
    for (uint32_t r = 0; r < 4; ++r) {
      for (uint32_t l = 0; keeps_ && l < kLanes; ++l) {
        const MatrixPlace at = PlaceInC(l, r);
        words[r][l] = Scaled(SumAt(n, at.row, first + at.column));
      }
      sums.to[r] = words[r];
      sums.from[r] = keeps_ ? words[r] : nullptr;
    }
    const uint32_t depth = kWordsAlongK * PerRegister(form_.a);
    const size_t at = size_t{first} * depth;
    if (!code.sum(a, {fractions_ + at, exponents_ + at, depth, 4}, depth, sums)) return false;
    for (uint32_t r = 0; r < 4; ++r) {
      for (uint32_t l = 0; l < kLanes; ++l) {
        const MatrixPlace place = PlaceInC(l, r);
        if ((LeftOut(n) >> place.row & 1) != 0) continue;
        SumAt(n, place.row, first + place.column) = words[r][l];
      }
    }
    return true;
  }

  void SumTile(uint32_t n, uint32_t first) {
    const uint32_t each = PerRegister(form_.a), depth = kWordsAlongK * each;
    tile_.rows = kStripLanes, tile_.depth = depth, tile_.a = form_.a, tile_.d = form_.d;
    tile_.of_kind = static_cast<TensorKind>(i_.variant) >= TensorKind::kF8f6f4;
    WithElement(form_.a, [&](auto value) {
      for (uint32_t k = 0; k < depth; ++k) {
        for (uint32_t row = 0; row < kStripLanes; ++row)
          tile_.of_a[row][k] = (form_.negates_a ? -1 : 1) * value(a_[n * kStripLanes + row][k / each], k % each);
      }
    });
    WithElement(form_.b, [&](auto value) {
      for (uint32_t k = 0; k < depth; ++k) {
        for (uint32_t c = 0; c < kColumns; ++c)
          tile_.of_b[k][c] = (form_.negates_b ? -1 : 1) * value(b_[first + c][k / each], k % each);
      }
    });
    for (uint32_t k = 0; scales_ != 0 && k < depth; ++k) {
      const uint32_t scale = k / (depth / scales_);
      for (uint32_t row = 0; row < kStripLanes; ++row) tile_.of_a[row][k] *= scales_of_a_[n * kStripLanes + row][scale];
      for (uint32_t c = 0; c < kColumns; ++c) tile_.of_b[k][c] *= scales_of_b_[first + c][scale];
    }
    WithElement(form_.d, [&](auto value) {
      for (uint32_t row = 0; row < kStripLanes; ++row) {
        for (uint32_t c = 0; c < kColumns; ++c)
          tile_.sums[row][c] = keeps_ ? value(Scaled(SumAt(n, row, first + c)), 0) : 0.0;
      }
    });
    warp_.block->program->rows->sum_tile(&tile_, warp_.block->launch->mma_order);
    for (uint32_t row = 0; row < kStripLanes; ++row) {
      for (uint32_t c = 0; c < kColumns && (LeftOut(n) >> row & 1) == 0; ++c)
        PutSum(form_.d, form_.clamps, tile_.sums[row][c], 0, &SumAt(n, row, first + c));
    }
  }

  // A sum counts as written if all that it's made from is.
  void NoteWritten(uint32_t n, uint32_t first) {
    uint16_t rows = 0;
    for (uint32_t row = 0; row < kStripLanes; ++row)
      rows = static_cast<uint16_t>(rows | (unknown_rows_[n * kStripLanes + row] ? 0U : 1U << row));
    for (uint32_t c = first; c < first + kColumns; ++c) {
      uint16_t& written = memory_.Cell(StripOf(n), column_ + c).written;
      const auto known = static_cast<uint16_t>(unknown_columns_[c] ? 0 : rows);
      const uint32_t all = keeps_ ? written & known : known;
      written = static_cast<uint16_t>((written & LeftOut(n)) | (all & ~LeftOut(n)));
    }
  }
};

}  // namespace

void RunTensorMultiply(Warp& warp, const Instruction& i, uint32_t mask) {
  for (uint32_t left = mask; left != 0; left &= left - 1)
    std::make_unique<ProductInTensor>(&warp, i, First(left))->Run();  // 70 KiB
  ++warp.clock;
  ++warp.effects;
}

void RunTensorCommit(Warp& warp, const Instruction& i, uint32_t mask) {
  Block& block = *warp.block;
  TensorMemory& memory = GetTensorMemory(warp);
  const auto commit_to = [&](uint32_t lane, const Access& barrier) {
    if (barrier.space != Space::kShared || block.mbarriers.count(barrier.address[lane]) == 0) {
      Fail(warp, i, lane, Fault::Kind::kIllegalAddress,
           "names memory that isn't an mbarrier: no mbarrier.init made one there, or it has been invalidated");
    }
    if (RacesChecked(warp, barrier.space))
      CheckRaces(warp, i, AccessKind::kAtomic, barrier.address[lane], 8, lane, false);
    TensorCommit& commit = block.commits.emplace_back();
    commit.barrier = barrier.address[lane];
    commit.rank = warp.rank;
    commit.number = memory.commits;
    commit.core = GetTensorCore(warp);
    commit.statement = i.statement;
    commit.clocks.resize(block.races.clocks());
    block.races.HandOver(warp, commit.clocks.data());
  };
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const uint32_t lane = First(left);
    ++memory.commits;
    if (i.op[1] == kNoOperand) {
      commit_to(lane, LocateOne(warp, i, lane, AccessKind::kWrite, 8, 8));
    } else {
      const uint32_t blocks = Words(warp, i.op[1])[lane] & 0xffff;
      if (blocks == 0) Fail(warp, i, lane, Fault::Kind::kIllegalAddress, "has a multicast to no block of the cluster");
      for (uint32_t ranks = blocks; ranks != 0; ranks &= ranks - 1)
        commit_to(lane, LocateInBlock(warp, i, lane, First(ranks), 8, 8));
    }
    for (TensorProduct& product : memory.products) {
      if (product.commit == 0 && product.warp == warp.index && product.lane == lane) product.commit = memory.commits;
    }
  }
  ++warp.clock;
  ++warp.effects;
}

bool ArriveForCommit(Block* block, uint64_t place, MBarrier* barrier) {
  if (barrier->pending == 0) return false;
  const auto found = std::find_if(block->commits.begin(), block->commits.end(),
                                  [&](const TensorCommit& commit) { return commit.barrier == place; });
  if (found == block->commits.end()) return false;
  --barrier->pending;
  for (size_t c = 0; c < found->clocks.size(); ++c)
    barrier->arriving[c] = std::max(barrier->arriving[c], found->clocks[c]);
  if (!found->clocks.empty()) {
    uint32_t& core = barrier->arriving[block->races.GetCorePlace(found->core)];
    core = std::max(core, found->number);
  }
  for (TensorProduct& product : block->tensor_memories[found->rank].products) {
    if (product.commit == 0 || product.commit > found->number || !product.reads) continue;
    block->reads.End(*product.reads);
    product.reads.reset();
  }
  block->commits.erase(found);
  return true;
}

}  // namespace kernpack::emulator
