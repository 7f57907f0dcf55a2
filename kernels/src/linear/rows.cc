// Few rows of activations: weights are read once and multiplied as they lie.
#include "integer_products.h"

namespace kk {
namespace {

// How far ahead of the block in work memory is asked for: about what memory delivers in the time of an access.
constexpr int64_t kAhead = 1536;

// Row `row` of the activations times group `g`, into sums[16]; products(block, v, column, sums) makes those of a block. Not inlined: for
// each format once, not once for each type of result.
template <PackedFormat F, class Products>
[[gnu::noinline]] void GroupTimesIntegers(const PackedWeight& weight, const Activations& x, int64_t g, int64_t row,
                                          Products block_products, float* sums) {
  constexpr int kHalves = PackedTraits<F>::kHalves;
  const int64_t blocks = weight.blocks_per_group();
  const float *scales = x.scales + row * blocks, *half_sums = x.sums + row * blocks * 2;
  VF products[kGroupVectors] = {}, minima[kGroupVectors] = {};
  BlockCursor<F> at(weight, g, 0);
  for (int64_t b = 0; b < blocks; ++b, at.Next()) {
    FetchBlock<F>(at.block(), kAhead);
#pragma GCC unroll 4
    for (int v = 0; v < kGroupVectors; ++v) {
      const BlockScales<F> of(at.block(), at.tail(), v);
      VI sum[kHalves];
      block_products(at.block(), v, b * kBlockColumns, sum);
      for (int half = 0; half < kHalves; ++half) {
        products[v] += ToFloat(sum[half]) * (of.d[half] * scales[b]);
        minima[v] += of.m[half] * (kHalves == 2 ? half_sums[2 * b + half] : half_sums[2 * b] + half_sums[2 * b + 1]);
      }
    }
  }
  for (int v = 0; v < kGroupVectors; ++v) Pack<float>::Store(sums + v * kLanes, products[v] + minima[v]);
}

// The same for each way in which integers lie.
template <PackedFormat F>
void GroupTimesIntegers(const PackedWeight& weight, const Activations& x, int64_t g, int64_t row, float* sums) {
  const int64_t first = row * x.columns;
  const auto with = [&](auto products) { GroupTimesIntegers<F>(weight, x, g, row, products, sums); };
  if constexpr (kUsesWords<F>) {
    with([words = x.words + first](const uint8_t* block, int v, int64_t column, auto& to) {
      WordProducts<F>(block, v, words + column, to);
    });
  } else if (x.compute == LinearCompute::kInt16) {
    with([high = x.bytes + first, low = x.low_bytes + first](const uint8_t* block, int v, int64_t column, auto& to) {
      ByteProducts<F, true>(block, v, high + column, low + column, to);
    });
  } else {
    with([bytes = x.bytes + first](const uint8_t* block, int v, int64_t column, auto& to) {
      ByteProducts<F, false>(block, v, bytes + column, nullptr, to);
    });
  }
}

template <PackedFormat F>
[[gnu::noinline]] void GroupTimesFloats(const PackedWeight& weight, const Activations& x, int64_t g, int64_t row,
                                        float* sums) {
  constexpr int kHalves = PackedTraits<F>::kHalves, kHalfColumns = kBlockColumns / kHalves;
  const int64_t blocks = weight.blocks_per_group();
  const float* floats = x.floats + row * x.columns;
  for (int v = 0; v < kGroupVectors; ++v) {
    VF total = {};
    BlockCursor<F> at(weight, g, 0);
    for (int64_t b = 0; b < blocks; ++b, at.Next()) {
      const float* in = floats + b * kBlockColumns;
      VF products[kHalves][4] = {};
      ForBlockColumns<F>(at.block(), v, [&](int k, VF value) { products[k / kHalfColumns][k % 4] += value * in[k]; });
      const BlockScales<F> of(at.block(), at.tail(), v);
      for (int half = 0; half < kHalves; ++half) {
        float sum[4] = {};
        for (int k = 0; k < kHalfColumns; ++k) sum[k % 4] += in[half * kHalfColumns + k];
        const VF* p = products[half];
        total += ((p[0] + p[1]) + (p[2] + p[3])) * of.d[half];
        total += of.m[half] * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
      }
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
        if (x.compute == LinearCompute::kFloat) {
          GroupTimesFloats<kFormat>(weight, x, g, row, sums);
        } else {
          GroupTimesIntegers<kFormat>(weight, x, g, row, sums);
        }
        StoreSums<Level>(result, weight.rows, row, 1, column, count, sums, kGroupRows);
      }
    }
  });
}

#define KK_INSTANTIATE(T)                                                                                           \
  template void LinearRows<KP_VARIANT, T>(const PackedWeight&, const Activations&, const LinearResult<T>&, int64_t, \
                                          int64_t);
KK_LINEAR_TYPES(KK_INSTANTIATE)

}  // namespace kk
