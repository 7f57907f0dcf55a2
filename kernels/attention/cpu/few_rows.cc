#include "few_rows.h"

#include "common/cpu/transpose.h"
#include "load_cached.h"

namespace kk {
namespace {

// sum[r] += key * query r, over kVectors whole vectors from column d on.
template <int kRows, int kVectors, class C>
inline void AddDots(const C* key, const float* queries, int64_t padded, int64_t d, VF (&sum)[kRows]) {
  for (int v = 0; v < kVectors; ++v) {
    const VF k = LoadCached(key + d + v * kLanes);
    for (int r = 0; r < kRows; ++r) sum[r] += k * Pack<float>::Load(queries + r * padded + d + v * kLanes);
  }
}

// A row that is used soon: processors follow rows up to the end of a page of memory only.
template <class C>
inline void PrefetchRow(const C* row, int64_t width) {
  for (int64_t d = 0; d < width; d += 64 / static_cast<int64_t>(sizeof(C))) Prefetch(row + d);
}

constexpr int64_t kPrefetchedRows = 16;  // how far ahead

// FewScores of kRows rows. kHeld: vectors of each query that stay in
// registers, all that a row has; 0: they are read for each key.
template <int kRows, int kHeld, class C>
void ComputeScores(const FewKeys<C>& chunk, const float* queries, int64_t padded, float* scores) {
  const int64_t count = chunk.count, width = chunk.width;
  VF held[kRows][std::max(kHeld, 1)];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kHeld; ++v) held[r][v] = Pack<float>::Load(queries + r * padded + v * kLanes);
  }
  for (int64_t j = 0; j < count; j += kLanes) {
    const auto dots = [&](int i) __attribute__((always_inline)) {
      const int64_t row = std::min(j + i, count - 1);  // scores beyond the last key aren't read
      const auto* key = chunk.keys[row];
      PrefetchRow(chunk.keys[std::min(row + kPrefetchedRows, count - 1)], width);
      PrefetchRow(chunk.values[row], width);
      Sides<kRows> sum = {};
      if constexpr (kHeld > 0) {
        for (int v = 0; v < kHeld; ++v) {
          const VF k = LoadCached(key + v * kLanes);
          for (int r = 0; r < kRows; ++r) sum.of[r] = v == 0 ? k * held[r][v] : sum.of[r] + k * held[r][v];
        }
      } else {
        int64_t d = 0;
        for (; d + 4 * kLanes <= width; d += 4 * kLanes) AddDots<kRows, 4>(key, queries, padded, d, sum.of);
        for (; d + kLanes <= width; d += kLanes) AddDots<kRows, 1>(key, queries, padded, d, sum.of);
        if (d < width) {
          const VF k = LoadCached(key, d, width);
          for (int r = 0; r < kRows; ++r) sum.of[r] += k * Pack<float>::Load(queries + r * padded + d);
        }
      }
      return sum;
    };
    const auto add = [](VF a, VF b) { return a + b; };
    Sides<kRows> fours[kLanes / 4];
#pragma GCC unroll 1
    for (int i = 0; i < kLanes / 4; ++i) fours[i] = Fold<kRows, 4>(4 * i, dots, add);  // a quarter of the code
    const auto all = Fold<kRows, kLanes / 4, 4>(0, [&](int i) { return fours[i]; }, add);
    for (int r = 0; r < kRows; ++r) Pack<float>::Store(scores + r * kAttentionKeys + j, all.of[r]);
  }
}

// FewValues of kRows rows and kVectors vectors from column d on.
template <int kRows, int kVectors, class C>
void AddValues(const FewKeys<C>& chunk, const float* weights, int64_t padded, int64_t d, float* sums) {
  VF total[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) total[r][v] = Pack<float>::Load(sums + r * padded + d + v * kLanes);
  }
  for (int64_t j = 0; j < chunk.count; ++j) {
    const C* const row = chunk.values[j];
    for (int v = 0; v < kVectors; ++v) {
      const VF value = kVectors > 1 ? LoadCached(row + d + v * kLanes) : LoadCached(row, d, chunk.width);
      for (int r = 0; r < kRows; ++r) total[r][v] += value * weights[r * kAttentionKeys + j];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) Pack<float>::Store(sums + r * padded + d + v * kLanes, total[r][v]);
  }
}

// f(integral_constant of how many, first row): rows in blocks of 4 and what is left of them.
template <class F>
inline void InBlocks(int64_t rows, F f) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) f(std::integral_constant<int, 4>(), r);
  if (rows - r == 3) f(std::integral_constant<int, 3>(), r);
  if (rows - r == 2) f(std::integral_constant<int, 2>(), r);
  if (rows - r == 1) f(std::integral_constant<int, 1>(), r);
}

}  // namespace

template <class Level, class C>
void FewScores(const FewKeys<C>& chunk, const float* queries, int64_t rows, float* scores) {
  constexpr int kHeld = kBytes == 64 ? 4 : 0;  // of 32 registers
  const int64_t padded = PaddedWidth(chunk.width);
  InBlocks(rows, [&](auto n, int64_t r) {
    const float* const of = queries + r * padded;
    float* const to = scores + r * kAttentionKeys;
    if (kHeld > 0 && chunk.width == kHeld * kLanes) {
      ComputeScores<decltype(n)::value, kHeld>(chunk, of, padded, to);
    } else {
      ComputeScores<decltype(n)::value, 0>(chunk, of, padded, to);
    }
  });
}

template <class Level, class C>
void FewValues(const FewKeys<C>& chunk, const float* weights, int64_t rows, float* sums) {
  const int64_t padded = PaddedWidth(chunk.width);
  InBlocks(rows, [&](auto n, int64_t r) {
    constexpr int kRows = decltype(n)::value;
    const float* const of = weights + r * kAttentionKeys;
    float* const to = sums + r * padded;
    int64_t d = 0;
    for (; d + 4 * kLanes <= chunk.width; d += 4 * kLanes) AddValues<kRows, 4>(chunk, of, padded, d, to);
    for (; d < chunk.width; d += kLanes) AddValues<kRows, 1>(chunk, of, padded, d, to);
  });
}

#define KK_INSTANTIATE(C)                                                                   \
  template void FewScores<KP_VARIANT, C>(const FewKeys<C>&, const float*, int64_t, float*); \
  template void FewValues<KP_VARIANT, C>(const FewKeys<C>&, const float*, int64_t, float*);
KK_CACHE_TYPES(KK_INSTANTIATE)

}  // namespace kk
