// Matrices of bf16 values as the pairs that products read: two values of neighbouring steps in a 32-bit lane.
#pragma once

#include <algorithm>

#include "transpose.h"

namespace kk {
namespace {

// The first kLanes pairs of a row; zeros from value `count` on.
inline VF LoadPairs(const Bf16* from, int64_t count) {
  if (count >= 2 * kLanes) return (VF)LoadBits(from);
  Bf16 values[2 * kLanes] = {};
  for (int64_t i = 0; i < count; ++i) values[i] = from[i];
  return (VF)LoadBits(values);
}

// to[step / 2][width] of rows that hold the values of their steps beside each other; zeros up to the next multiple of kLanes of rows,
// and in the last pair of an odd count of steps.
inline void TransposePairs(const Bf16* from, int64_t stride, int64_t rows, int64_t steps, uint32_t* to, int64_t width) {
  for (int64_t r = 0; r < rows; r += kLanes) {
    for (int64_t s = 0; s < steps; s += 2 * kLanes) {
      VF tile[kLanes];
      for (int64_t i = 0; i < kLanes; ++i) {
        tile[i] = r + i < rows ? LoadPairs(from + (r + i) * stride + s, steps - s) : VF{};
      }
      Transpose(tile);
      const int64_t here = std::min<int64_t>(kLanes, (steps - s + 1) / 2);
      for (int64_t i = 0; i < here; ++i) std::memcpy(to + (s / 2 + i) * width + r, &tile[i], sizeof tile[i]);
    }
  }
}

// to[row / 2][padded]: rows 2 i and 2 i + 1 of `width` values each, by turns; zeros beyond the width and the last row.
inline void InterleaveRows(const Bf16* from, int64_t stride, int64_t rows, int64_t width, uint32_t* to,
                           int64_t padded) {
  const auto lanes = [width](const Bf16* row, int64_t d) {
    return d + kLanes <= width ? Get(row + d, Whole{}) : Get(row + d, Part{static_cast<int>(width - d)});
  };
  for (int64_t r = 0; r < rows; r += 2, to += padded) {
    for (int64_t d = 0; d < padded; d += kLanes) {
      const VU even = (VU)lanes(from + r * stride, d);
      const VU odd = r + 1 < rows ? (VU)lanes(from + (r + 1) * stride, d) : VU{};
      const VU pairs = even >> 16 | odd;
      std::memcpy(to + d, &pairs, sizeof pairs);
    }
  }
}

}  // namespace
}  // namespace kk
