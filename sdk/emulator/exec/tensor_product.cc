// tcgen05.mma: D = A * B + D, with D in tensor memory; and tcgen05.commit.
#include <algorithm>
#include <cstring>
#include <memory>

#include "exec/bulk_access.h"
#include "exec/fault.h"
#include "exec/matrix_elements.h"
#include "exec/taint.h"
#include "exec/tensor_memory.h"
#include "exec/unit_reader.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kMostTensorColumns = 256;  // of D
constexpr uint32_t kFactorColumns = 8;  // of A in tensor memory: 32 bytes of a row
constexpr uint32_t kStrips = kTensorLanes / kStripLanes;

// The instruction descriptor of dense products of f16, bf16 and tf32.
struct TensorForm {
  uint32_t rows, columns;
  Element a;
  bool negates_a, negates_b, transposes_a, transposes_b;
};

class TensorOperands {
 public:
  TensorOperands(Warp* warp, const Instruction& i, uint32_t lane) : warp_(*warp), i_(i), lane_(lane) {
    for (int o = 0; o < 5; ++o) {
      if (!warp->taint.empty()) NeedUntainted(*warp, i, i.op[o], 1U << lane, "takes an operand from");
    }
  }

  uint32_t Word(int operand) const {
    return reinterpret_cast<const uint32_t*>(warp_.registers + i_.op[operand])[lane_];
  }
  uint64_t Descriptor(int operand, const char* what) const {
    const uint64_t value = reinterpret_cast<const uint64_t*>(warp_.registers + i_.op[operand])[lane_];
    const char* wrong = nullptr;
    if ((value >> 46 & 7) != 1) {
      wrong = "bits 46 to 48 have to be 0b001";
    } else if ((value >> 61 & 1) != 0) {
      wrong = "swizzles of 128 bytes with atoms of 32 bytes (bits 61 to 63) aren't emulated, and neither are odd ones";
    } else if (GroupOperand::GetBaseOffset(value) != 0) {
      wrong =
          "a base offset (bits 49 to 51) isn't emulated: let the matrix begin at a multiple of 8 rows of the "
          "swizzle's width";
    } else if ((value >> 52 & 1) != 0) {
      wrong = "an absolute address of the leading dimension (bit 52) isn't emulated";
    } else if ((value >> 53 & 0xff) != 0) {
      wrong = "bits 53 to 60 have to be 0";
    }
    if (wrong != nullptr) {
      Fail(warp_, i_, lane_, Fault::Kind::kIllegalAddress,
           Text("has the descriptor 0x%llx of %s: %s", static_cast<unsigned long long>(value), what, wrong));
    }
    return value;
  }
  TensorForm Form() const {
    const uint32_t bits = Word(3);
    const auto field = [&](uint32_t at, uint32_t count) { return bits >> at & ((1U << count) - 1); };
    const bool tf32 = static_cast<TensorKind>(i_.variant) == TensorKind::kTf32;
    if (field(2, 1) != 0) Wrong("a sparse A (bit 2) isn't emulated");
    if (field(3, 1) != 0) Wrong("bit 3 is for integers alone");
    if (field(4, 2) != 1)
      Wrong(field(4, 2) == 0 && !tf32 ? "D of f16 (bits 4 and 5) isn't emulated; f32 is"
                                      : "bits 4 and 5 have to be 1, which is D of f32");
    const uint32_t type = field(7, 3);
    if (type != field(10, 3)) Wrong("A and B have different types (bits 7 to 12)");
    if (tf32 ? type != 2 : type > 1)
      Wrong(tf32 ? "the types of A and B (bits 7 to 12) have to be 2, which is tf32"
                 : "the types of A and B (bits 7 to 12) have to be 0 (f16) or 1 (bf16)");
    TensorForm out{
        field(24, 5) << 4, field(17, 6) << 3, tf32 ? Element::kTf32 : type == 0 ? Element::kHalf : Element::kBrain,
        field(13, 1) != 0, field(14, 1) != 0, field(15, 1) != 0,
        field(16, 1) != 0};
    if (field(6, 1) + field(23, 1) + field(29, 3) != 0) Wrong("the bits 6, 23 and 29 to 31 have to be 0");
    if (out.rows != 64 && out.rows != 128) Wrong("M (bits 24 to 28, without 4 bits) has to be 64 or 128");
    if (out.columns == 0 || out.columns > kMostTensorColumns || (out.rows == 128 && out.columns % 16 != 0))
      Wrong("N (bits 17 to 22, without 3 bits) has to be a multiple of 8 up to 256, of 16 if M is 128");
    if (tf32 && (out.transposes_a || out.transposes_b)) Wrong("a transposed matrix of tf32 isn't emulated");
    return out;
  }
  [[noreturn]] void Wrong(const char* what) const {
    Fail(warp_, i_, lane_, Fault::Kind::kIllegalAddress,
         Text("has the instruction descriptor 0x%08x: %s", Word(3), what));
  }

 private:
  const Warp& warp_;
  const Instruction& i_;
  const uint32_t lane_;
};

// The product that one thread issues.
class ProductInTensor {
 public:
  ProductInTensor(Warp* warp, const Instruction& i, uint32_t lane)
      : warp_(*warp),
        i_(i),
        lane_(lane),
        memory_(GetTensorMemory(*warp)),
        operands_(warp, i, lane),
        form_(operands_.Form()) {}

  void Run() {
    const uint32_t* const extra = warp_.block->program->extra.data() + i_.extra;
    const uint32_t d = operands_.Word(0) + extra[0];
    const uint32_t keeps = *reinterpret_cast<const uint32_t*>(warp_.registers + i_.op[4]) >> lane_ & 1;
    keeps_ = (keeps != 0) != ((i_.flags & kNegateC) != 0);
    first_lane_ = d >> 16;
    column_ = d & 0xffff;
    if (first_lane_ != 0 && (form_.rows == 128 || first_lane_ != kStripLanes)) {
      Fail(warp_, i_, lane_, Fault::Kind::kIllegalAddress,
           Text("has D at lane %u; expected 0", first_lane_) + (form_.rows == 64 ? " or 16" : ""));
    }
    number_ = static_cast<uint32_t>(memory_.products.size()) + 1;
    ForCells();
    AsyncRead read{warp_.index, lane_, i_.statement, "a tcgen05.commit and a wait for its mbarrier", {}};
    const uint32_t bytes = 4 / PerRegister(form_.a);
    UnitReader(&warp_, i_, lane_, "B", &read.units)
        .Read(GroupOperand(operands_.Descriptor(2, "B"), form_.transposes_b, bytes), bytes, 0, form_.columns,
              reinterpret_cast<uint8_t*>(b_), [&](uint32_t column) { unknown_columns_[column] = true; });
    if (i_.count == 2) {
      TakeA(operands_.Word(1) + extra[1]);
    } else {
      UnitReader(&warp_, i_, lane_, "A", &read.units)
          .Read(GroupOperand(operands_.Descriptor(1, "A"), form_.transposes_a, bytes), bytes, 0, form_.rows,
                reinterpret_cast<uint8_t*>(a_), [&](uint32_t row) { unknown_rows_[row] = true; });
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
  const TensorForm form_;
  bool keeps_ = false;
  uint32_t first_lane_ = 0, column_ = 0, number_ = 0;
  uint32_t a_[kTensorLanes][kWordsAlongK];
  uint32_t b_[kMostTensorColumns][kWordsAlongK];
  alignas(64) float fractions_[kMostTensorColumns * kMostDepth / 2];  // of B, for fast code
  alignas(64) int32_t exponents_[kMostTensorColumns * kMostDepth / 2];
  Tile tile_;
  bool unknown_rows_[kTensorLanes] = {};
  bool unknown_columns_[kMostTensorColumns] = {};

  // The strip of lanes that rows 16 n to 16 n + 15 are in: all of them one after the other, or the first or second half of each warp's.
  uint32_t StripOf(uint32_t n) const { return form_.rows == kTensorLanes ? n : 2 * n + first_lane_ / kStripLanes; }
  uint32_t Strips() const { return form_.rows / kStripLanes; }

  void ForCells() {
    for (uint32_t c = column_; c < column_ + form_.columns; ++c) {
      for (uint32_t n = 0; n < Strips(); ++n) {
        NeedTensorCell(warp_, i_, lane_, StripOf(n), c, TensorUse::kSum);
        memory_.Cell(StripOf(n), c).writer = number_;
      }
    }
  }

  // A in tensor memory, whose row n is in lane n.
  void TakeA(uint32_t address) {
    if (form_.rows != kTensorLanes) operands_.Wrong("A in tensor memory isn't emulated if M is 64");
    if (form_.transposes_a) operands_.Wrong("A in tensor memory can't be transposed (bit 15)");
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
    const bool fast = warp_.block->launch->mma_order == kOrderOfH200;
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

  bool SumFast(uint32_t n, uint32_t first, const StripCode& code, const StripA& a) {
    uint32_t words[4][kLanes];
    StripSums sums{Element::kFloat, {}, {}};
    for (uint32_t r = 0; r < 4; ++r) {
      for (uint32_t l = 0; keeps_ && l < kLanes; ++l) {
        const MatrixPlace at = PlaceInC(l, r);
        words[r][l] = SumAt(n, at.row, first + at.column);
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
        SumAt(n, place.row, first + place.column) = words[r][l];
      }
    }
    return true;
  }

  void SumTile(uint32_t n, uint32_t first) {
    const uint32_t each = PerRegister(form_.a), depth = kWordsAlongK * each;
    tile_.rows = kStripLanes, tile_.depth = depth, tile_.a = form_.a, tile_.d = Element::kFloat;
    WithElement(form_.a, [&](auto value) {
      for (uint32_t k = 0; k < depth; ++k) {
        for (uint32_t row = 0; row < kStripLanes; ++row)
          tile_.of_a[row][k] = (form_.negates_a ? -1 : 1) * value(a_[n * kStripLanes + row][k / each], k % each);
        for (uint32_t c = 0; c < kColumns; ++c)
          tile_.of_b[k][c] = (form_.negates_b ? -1 : 1) * value(b_[first + c][k / each], k % each);
      }
    });
    for (uint32_t row = 0; row < kStripLanes; ++row) {
      for (uint32_t c = 0; c < kColumns; ++c)
        tile_.sums[row][c] = keeps_ ? static_cast<double>(__builtin_bit_cast(float, SumAt(n, row, first + c))) : 0.0;
    }
    warp_.block->program->rows->sum_tile(&tile_, warp_.block->launch->mma_order);
    for (uint32_t row = 0; row < kStripLanes; ++row) {
      for (uint32_t c = 0; c < kColumns; ++c)
        PutSum(Element::kFloat, false, tile_.sums[row][c], 0, &SumAt(n, row, first + c));
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
      written = keeps_ ? written & known : known;
    }
  }
};

}  // namespace

void RunTensorMultiply(Warp& warp, const Instruction& i, uint32_t mask) {
  for (uint32_t left = mask; left != 0; left &= left - 1)
    std::make_unique<ProductInTensor>(&warp, i, First(left))->Run();  // 50 KiB
  ++warp.clock;
  ++warp.effects;
}

void RunTensorCommit(Warp& warp, const Instruction& i, uint32_t mask) {
  Block& block = *warp.block;
  TensorMemory& memory = GetTensorMemory(warp);
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const uint32_t lane = First(left);
    const Access barrier = LocateOne(warp, i, lane, AccessKind::kWrite, 8, 8);
    if (barrier.space != Space::kShared || block.mbarriers.count(barrier.address[lane]) == 0) {
      Fail(warp, i, lane, Fault::Kind::kIllegalAddress,
           "names memory that isn't an mbarrier: no mbarrier.init made one there, or it has been invalidated");
    }
    if (RacesChecked(warp, barrier.space))
      CheckRaces(warp, i, AccessKind::kAtomic, barrier.address[lane], 8, lane, false);
    TensorCommit& commit = block.commits.emplace_back();
    commit.barrier = barrier.address[lane];
    commit.rank = warp.rank;
    commit.number = ++memory.commits;
    commit.core = GetTensorCore(warp);
    commit.statement = i.statement;
    commit.clocks.resize(block.races.clocks());
    block.races.HandOver(warp, commit.clocks.data());
    for (TensorProduct& product : memory.products) {
      if (product.commit == 0 && product.warp == warp.index && product.lane == lane) product.commit = commit.number;
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
