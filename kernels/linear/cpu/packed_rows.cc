// Few rows of activations: weights are read once and multiplied as they lie.
#include "integer_products.h"

namespace kk {
namespace {

// How far ahead of the block in work memory is asked for: about what memory delivers in the time of an access.
constexpr int64_t kAhead = 1536;

// So many rows share what is unpacked of a weight: what the registers hold sums of.
constexpr int kTogether = kBytes == 64 ? 8 : 4;

// Rows [row, row + kRows) of the activations times group `g`, into sums[kRows][16]; products(values, at, sums) makes those of a block,
// activations from `at` on. A row's sums are added up in the same order beside any others. Not inlined: for each format once, not once
// for each type of result.
template <PackedFormat F, int kRows, class Products>
[[gnu::noinline]] void GroupTimesIntegers(const PackedWeight& weight, const Activations& x, int64_t g, int64_t row,
                                          Products block_products, float* sums) {
  constexpr int kHalves = PackedTraits<F>::kHalves, kVectors = kRows == 1 ? kGroupVectors : 1;
  const int64_t blocks = weight.blocks_per_group();
  const float *scales = x.scales + row * blocks,
              *half_sums = (kHalves == 2 ? x.half_sums : x.sums) + row * blocks * kHalves;
  for (int first = 0; first < kGroupVectors; first += kVectors) {
    VF products[kVectors][kRows] = {}, minima[kVectors][kRows] = {};
    BlockCursor<F> at(weight, g, 0);
    for (int64_t b = 0; b < blocks; ++b, at.Next()) {
      FetchBlock<F>(at.block(), kAhead);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const BlockScales<F> of(at.block(), at.tail(), first + v);
        const BlockBytes values = ReadBlockBytes<F>(at.block(), first + v);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          VI sum[kHalves];
          block_products(values, (row + r) * x.columns + b * kBlockColumns, sum);
          const float scale = scales[r * blocks + b], *halves = half_sums + kHalves * (r * blocks + b);
          for (int half = 0; half < kHalves; ++half) {
            products[v][r] += ToFloat(sum[half]) * (of.d[half] * scale);
            minima[v][r] += of.m[half] * halves[half];
          }
        }
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      for (int r = 0; r < kRows; ++r) {
        Pack<float>::Store(sums + r * kGroupRows + (first + v) * kLanes, products[v][r] + minima[v][r]);
      }
    }
  }
}

// The same for each way in which integers lie.
template <PackedFormat F, int kRows>
void GroupTimesIntegers(const PackedWeight& weight, const Activations& x, int64_t g, int64_t row, float* sums) {
  const auto with = [&](auto products) { GroupTimesIntegers<F, kRows>(weight, x, g, row, products, sums); };
  if constexpr (kUsesWords<F>) {
    with(
        [words = x.words](const BlockBytes& values, int64_t at, auto& to) { WordProducts<F>(values, words + at, to); });
  } else if (x.compute == LinearCompute::kInt16) {
    with([high = x.bytes, low = x.low_bytes](const BlockBytes& values, int64_t at, auto& to) {
      ByteProducts<F, true>(values, high + at, low + at, to);
    });
  } else {
    with([bytes = x.bytes](const BlockBytes& values, int64_t at, auto& to) {
      ByteProducts<F, false>(values, bytes + at, nullptr, to);
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
      float sums[kTogether * kGroupRows];
      for (int64_t row = 0, rows; row < x.rows; row += rows) {
        rows = 1;
        if (x.compute == LinearCompute::kFloat) {
          GroupTimesFloats<kFormat>(weight, x, g, row, sums);
        } else if (x.rows - row >= kTogether) {
          GroupTimesIntegers<kFormat, kTogether>(weight, x, g, row, sums);
          rows = kTogether;
        } else {
          GroupTimesIntegers<kFormat, 1>(weight, x, g, row, sums);
        }
        StoreSums<typename FloatLevel<Level>::Type>(result, weight.rows, row, rows, column, count, sums, kGroupRows);
      }
    }
  });
}

#define KK_INSTANTIATE(T)                                                                                           \
  template void LinearRows<KP_VARIANT, T>(const PackedWeight&, const Activations&, const LinearResult<T>&, int64_t, \
                                          int64_t);
KK_LINEAR_TYPES(KK_INSTANTIATE)

}  // namespace kk
