// Many rows of activations: a panel of the weights is unpacked, then multiplied with all of them.
#include <algorithm>

#include "../tiles/tile.h"
#include "block.h"
#include "linear.h"
#include "store.h"

namespace kk {
namespace {

// Which of the weights' values a panel holds.
struct PanelPart {
  int64_t group, groups;  // of 16 rows
  int64_t block, blocks;  // of 32 columns
};

template <PackedFormat F, class Use>
inline void ForPanelBlocks(const PackedWeight& weight, const PanelPart& part, Use f) {
  const int64_t per_group = weight.blocks_per_group();
  for (int64_t g = 0; g < part.groups; ++g) {
    for (int64_t b = 0; b < part.blocks; ++b) {
      const uint8_t* block =
          weight.blocks + ((part.group + g) * per_group + part.block + b) * PackedTraits<F>::kBlockBytes;
      for (int v = 0; v < kGroupVectors; ++v) f(block, v, g * kGroupRows + v * kLanes, b * kBlockColumns);
    }
  }
}

// panel[k][kPanelRows].
template <PackedFormat F>
void Unpack(const PackedWeight& weight, const PanelPart& part, float* panel) {
  ForPanelBlocks<F>(weight, part, [&](const uint8_t* block, int v, int64_t row, int64_t column) {
    const BlockScales<F> of(block, v);
    ForBlockColumns<F>(block, v, [&](int k, VF value) {
      Pack<float>::Store(panel + (column + k) * kPanelRows + row, value * of.d + of.m);
    });
  });
}

// panel[k / 2][kPanelRows] of pairs.
template <PackedFormat F>
void Unpack(const PackedWeight& weight, const PanelPart& part, uint32_t* panel) {
  ForPanelBlocks<F>(weight, part, [&](const uint8_t* block, int v, int64_t row, int64_t column) {
    const BlockScales<F> of(block, v);
    VF even = {};
    ForBlockColumns<F>(block, v, [&](int k, VF value) {
      const VF number = value * of.d + of.m;
      if (k % 2 == 0) {
        even = number;
      } else {
        const VU pairs = Bf16Pairs(even, number);
        std::memcpy(panel + (column + k) / 2 * kPanelRows + row, &pairs, sizeof pairs);
      }
    });
  });
}

// sums[rows][kPanelRows] of a panel, `kPerStep` columns in a step.
template <PackedFormat F, class Steps, int kPerStep>
void MultiplyPanel(const PackedWeight& weight, const typename Steps::Item* x, int64_t panel, int64_t rows,
                   float* scratch, float* sums) {
  auto* unpacked = reinterpret_cast<typename Steps::Item*>(scratch);
  const int64_t first = panel * (kPanelRows / kGroupRows);
  const int64_t groups = std::min(kPanelRows / kGroupRows, weight.groups() - first);
  const int64_t columns = weight.columns;
  for (int64_t column = 0; column < columns; column += kPanelColumns) {
    const int64_t count = std::min(kPanelColumns, columns - column);
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
  for (int64_t r = 0; r < rows; ++r) StoreRow(result, weight.rows, row + r, column, count, sums + r * kPanelRows);
}

#define KK_INSTANTIATE(T)                                                                                            \
  template void LinearPanel<KP_VARIANT, T>(const PackedWeight&, const Activations&, const LinearResult<T>&, int64_t, \
                                           int64_t, int64_t, float*);
KK_LINEAR_TYPES(KK_INSTANTIATE)

}  // namespace kk
