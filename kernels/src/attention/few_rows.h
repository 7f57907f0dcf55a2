// Few rows of queries, as in decoding: each key and value is read once, as it lies, and multiplied with all of them.
#pragma once

#include "../rows/row.h"
#include "../tiles/transpose.h"
#include "attention.h"

namespace kk {
namespace {

constexpr int64_t kFewRows = 12;  // up to so many

// The rows of a tensor by their stride; `rows[j]` is where row j begins, as in an array of pointers.
template <class T>
struct StridedRows {
  const T* data;
  int64_t stride;
  const T* operator[](int64_t row) const { return data + row * stride; }
};

template <class C>
inline VF LoadCached(const C* p) {
  return Pack<C>::Load(p);
}
inline VF LoadCached(const int8_t* p) { return ToFloat(LoadBytes(p)); }

// The lanes of a row from `d` on; zeros beyond its width.
template <class C>
inline VF LoadCached(const C* row, int64_t d, int64_t width) {
  if (d + kLanes <= width) return LoadCached(row + d);
  C padded[kLanes] = {};
  for (int64_t i = 0; d + i < width; ++i) padded[i] = row[d + i];
  return LoadCached(padded);
}

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

// scores[r][kAttentionKeys] of kRows rows; fetches the values, which are read next.
template <int kRows, class Rows>
inline void FewScores(const Rows& keys, const Rows& values, int64_t count, const float* queries, int64_t width,
                      int64_t padded, float* scores) {
  for (int64_t j = 0; j < count; j += kLanes) {
    VF sums[kRows][kLanes] = {};
    for (int64_t i = 0; i < kLanes && j + i < count; ++i) {
      const auto* key = keys[j + i];
      if (j + i + kPrefetchedRows < count) PrefetchRow(keys[j + i + kPrefetchedRows], width);
      PrefetchRow(values[j + i], width);
      VF sum[kRows] = {};
      int64_t d = 0;
      for (; d + 4 * kLanes <= width; d += 4 * kLanes) AddDots<kRows, 4>(key, queries, padded, d, sum);
      for (; d + kLanes <= width; d += kLanes) AddDots<kRows, 1>(key, queries, padded, d, sum);
      if (d < width) {
        const VF k = LoadCached(key, d, width);
        for (int r = 0; r < kRows; ++r) sum[r] += k * Pack<float>::Load(queries + r * padded + d);
      }
      for (int r = 0; r < kRows; ++r) sums[r][i] = sum[r];
    }
    for (int r = 0; r < kRows; ++r) Pack<float>::Store(scores + r * kAttentionKeys + j, SumEach(sums[r]));
  }
}

// sums[r][padded] += weights[r] * values, for kRows rows and kVectors vectors from column d on.
template <int kRows, int kVectors, class Rows>
inline void FewValues(const Rows& values, int64_t count, const float* weights, int64_t width, int64_t padded, int64_t d,
                      float* sums) {
  VF total[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) total[r][v] = Pack<float>::Load(sums + r * padded + d + v * kLanes);
  }
  for (int64_t j = 0; j < count; ++j) {
    for (int v = 0; v < kVectors; ++v) {
      const VF value = kVectors > 1 ? LoadCached(values[j] + d + v * kLanes) : LoadCached(values[j], d, width);
      for (int r = 0; r < kRows; ++r) total[r][v] += value * weights[r * kAttentionKeys + j];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) Pack<float>::Store(sums + r * padded + d + v * kLanes, total[r][v]);
  }
}

template <int kRows, class Rows>
inline void FewValues(const Rows& values, int64_t count, const float* weights, int64_t width, int64_t padded,
                      float* sums) {
  int64_t d = 0;
  for (; d + 4 * kLanes <= width; d += 4 * kLanes) {
    FewValues<kRows, 4>(values, count, weights, width, padded, d, sums);
  }
  for (; d < width; d += kLanes) FewValues<kRows, 1>(values, count, weights, width, padded, d, sums);
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
}  // namespace kk
