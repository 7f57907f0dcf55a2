// Many rows of activations: a panel of the weights is unpacked, then multiplied with all of them.
#include <algorithm>

#include "common/cpu/tile.h"
#include "block.h"
#include "linear.h"

namespace kk {
namespace {

// Which of the weights' values a panel holds.
struct PanelPart {
  int64_t group, groups;  // of 16 rows
  int64_t block, blocks;  // of 32 columns
};

constexpr int64_t kAhead =
    1024;  // of the block in work; a group's blocks of a panel are few, which hides them from the processor

// f(cursor, v, row, column) for each vector of each block; row and column are the panel's.
template <PackedFormat F, class Use>
inline void ForPanelBlocks(const PackedWeight& weight, const PanelPart& part, Use f) {
  for (int64_t g = 0; g < part.groups; ++g) {
    BlockCursor<F> at(weight, part.group + g, part.block);
    for (int64_t b = 0; b < part.blocks; ++b, at.Next()) {
      FetchBlock<F>(at.block(), kAhead);
      for (int v = 0; v < kGroupVectors; ++v) f(at, v, g * kGroupRows + v * kLanes, b * kBlockColumns);
    }
  }
}

// panel[k][kPanelRows].
template <PackedFormat F>
void Unpack(const PackedWeight& weight, const PanelPart& part, float* panel) {
  ForPanelBlocks<F>(weight, part, [&](const BlockCursor<F>& at, int v, int64_t row, int64_t column) {
    const BlockScales<F> of(at.block(), at.tail(), v);
    ForBlockColumns<F>(at.block(), v, [&](int k, VF value) {
      Pack<float>::Store(panel + (column + k) * kPanelRows + row, of.Weight(k, value));
    });
  });
}

// panel[k / 2][kPanelRows] of pairs.
template <PackedFormat F>
void Unpack(const PackedWeight& weight, const PanelPart& part, uint32_t* panel) {
  ForPanelBlocks<F>(weight, part, [&](const BlockCursor<F>& at, int v, int64_t row, int64_t column) {
    const BlockScales<F> of(at.block(), at.tail(), v);
    VF even = {};
    ForBlockColumns<F>(at.block(), v, [&](int k, VF value) {
      const VF number = of.Weight(k, value);
      if (k % 2 == 0) {
        even = number;
      } else {
        const VU pairs = Bf16Pairs(even, number);
        std::memcpy(panel + (column + k) / 2 * kPanelRows + row, &pairs, sizeof pairs);
      }
    });
  });
}

// sums[rows][kPanelRows] of a panel, `kPerStep` columns in a step. Not inlined: once for all types of result.
template <PackedFormat F, class Steps, int kPerStep>
[[gnu::noinline]] void MultiplyPanel(const PackedWeight& weight, const typename Steps::Item* x, int64_t panel,
                                     int64_t rows, float* scratch, float* sums) {
  auto* unpacked = reinterpret_cast<typename Steps::Item*>(scratch);
  const int64_t first = panel * (kPanelRows / kGroupRows);
  const int64_t groups = std::min(kPanelRows / kGroupRows, weight.groups() - first);
  const int64_t columns = weight.columns;
  constexpr int64_t kAtATime = kPerStep * kPanelColumns;  // which take the same memory
  for (int64_t column = 0; column < columns; column += kAtATime) {
    const int64_t count = std::min(kAtATime, columns - column);
    Unpack<F>(weight, {first, groups, column / kBlockColumns, count / kBlockColumns}, unpacked);
    Multiply<Steps>(rows, groups * kGroupRows, x + column / kPerStep, columns / kPerStep, unpacked, kPanelRows,
                    count / kPerStep, sums, kPanelRows, column > 0);
  }
}

}  // namespace

template <class Level, class T>
void LinearPanel(const PackedWeight& weight, const Activations& x, const LinearResult<T>& result, int64_t panel,
                 int64_t row, int64_t rows, float* scratch) {
  float* sums = scratch + kPanelRows * kPanelColumns;
  DispatchFormat(weight.format, [&](auto format) {
    constexpr PackedFormat kFormat = decltype(format)::value;
    if (x.compute == LinearCompute::kBf16) {
      const auto* pairs = reinterpret_cast<const uint32_t*>(x.halves + row * x.columns);
      MultiplyPanel<kFormat, PairSteps, 2>(weight, pairs, panel, rows, scratch, sums);
    } else {
      MultiplyPanel<kFormat, FloatSteps, 1>(weight, x.floats + row * x.columns, panel, rows, scratch, sums);
    }
  });
  const int64_t column = panel * kPanelRows, count = std::min(kPanelRows, weight.rows - column);
  StoreSums<Level>(result, weight.rows, row, rows, column, count, sums, kPanelRows);
}

#define KK_INSTANTIATE(T)                                                                                            \
  template void LinearPanel<KP_VARIANT, T>(const PackedWeight&, const Activations&, const LinearResult<T>&, int64_t, \
                                           int64_t, int64_t, float*);
KK_LINEAR_TYPES(KK_INSTANTIATE)

}  // namespace kk
