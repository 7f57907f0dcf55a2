// Few rows of activations: weights are read once and multiplied as they lie.
#include "block.h"
#include "linear.h"
#include "store.h"

namespace kk {
namespace {

// How far ahead of the block in work memory is asked for: about what memory delivers in the time of an access.
constexpr int64_t kAhead = 1536;

// Row `row` of the activations times group `g`, into sums[16].
template <PackedFormat F, bool kTwoBytes>
inline void GroupTimesBytes(const PackedWeight& weight, const Activations& x, int64_t g, int64_t row, float* sums) {
  constexpr int64_t kBytesPerBlock = PackedTraits<F>::kBlockBytes;
  const int64_t blocks = weight.blocks_per_group();
  const uint8_t* block = weight.blocks + g * blocks * kBytesPerBlock;
  const int8_t *bytes = x.bytes + row * x.columns, *low = kTwoBytes ? x.low_bytes + row * x.columns : nullptr;
  const float *scales = x.scales + row * blocks, *block_sums = x.sums + row * blocks;
  VF products[kGroupVectors] = {}, minima[kGroupVectors] = {};
  for (int64_t b = 0; b < blocks; ++b, block += kBytesPerBlock) {
    for (int64_t line = 0; line < kBytesPerBlock; line += 64) Prefetch(block + kAhead + line);
    for (int v = 0; v < kGroupVectors; ++v) {
      const BlockScales<F> of(block, v);
      VI sum = BlockProducts<F>(block, v, bytes + b * kBlockColumns);
      if (kTwoBytes) sum = sum * kHighByte + BlockProducts<F>(block, v, low + b * kBlockColumns);
      products[v] += ToFloat(sum) * (of.d * scales[b]);
      minima[v] += of.m * block_sums[b];
    }
  }
  for (int v = 0; v < kGroupVectors; ++v) Pack<float>::Store(sums + v * kLanes, products[v] + minima[v]);
}

template <PackedFormat F>
inline void GroupTimesFloats(const PackedWeight& weight, const Activations& x, int64_t g, int64_t row, float* sums) {
  constexpr int64_t kBytesPerBlock = PackedTraits<F>::kBlockBytes;
  const int64_t blocks = weight.blocks_per_group();
  const float* floats = x.floats + row * x.columns;
  for (int v = 0; v < kGroupVectors; ++v) {
    const uint8_t* block = weight.blocks + g * blocks * kBytesPerBlock;
    VF total = {};
    for (int64_t b = 0; b < blocks; ++b, block += kBytesPerBlock) {
      const float* in = floats + b * kBlockColumns;
      VF products[4] = {};
      ForBlockColumns<F>(block, v, [&](int k, VF value) { products[k % 4] += value * in[k]; });
      float sum[4] = {};
      for (int k = 0; k < kBlockColumns; ++k) sum[k % 4] += in[k];
      const BlockScales<F> of(block, v);
      total += ((products[0] + products[1]) + (products[2] + products[3])) * of.d;
      total += of.m * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
    Pack<float>::Store(sums + v * kLanes, total);
  }
}

}  // namespace

template <class Level, class T>
void LinearRows(const PackedWeight& weight, const Activations& x, const LinearResult<T>& result, int64_t begin,
                int64_t end) {
  DispatchFormat(weight.format, [&](auto format) {
    constexpr PackedFormat kFormat = decltype(format)::value;
    for (int64_t g = begin; g < end; ++g) {
      const int64_t column = g * kGroupRows;
      const int64_t count = weight.rows - column < kGroupRows ? weight.rows - column : kGroupRows;
      for (int64_t row = 0; row < x.rows; ++row) {
        float sums[kGroupRows];
        if (x.compute == LinearCompute::kInt8) {
          GroupTimesBytes<kFormat, false>(weight, x, g, row, sums);
        } else if (x.compute == LinearCompute::kInt16) {
          GroupTimesBytes<kFormat, true>(weight, x, g, row, sums);
        } else {
          GroupTimesFloats<kFormat>(weight, x, g, row, sums);
        }
        StoreRow(result, weight.rows, row, column, count, sums);
      }
    }
  });
}

#define KK_INSTANTIATE(T)                                                                                           \
  template void LinearRows<KP_VARIANT, T>(const PackedWeight&, const Activations&, const LinearResult<T>&, int64_t, \
                                          int64_t);
KK_LINEAR_TYPES(KK_INSTANTIATE)

}  // namespace kk
