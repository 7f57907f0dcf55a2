// Rows copied up to their padded width: as they are, or as the floats that tiles are made of.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "row.h"
#include "padded.h"

namespace kk {
namespace {

// A row of `width` values, zeros behind it.
template <class T>
void CopyPadded(const T* from, int64_t width, int64_t padded, T* to) {
  std::memcpy(to, from, static_cast<size_t>(width) * sizeof(T));
  std::fill(to + width, to + padded, T{});
}

// With their stride: as they lie where they are floats, else copied, with zeros up to the padded width. kWholeVectors: floats whose width
// isn't that of whole vectors are copied, too.
template <class T, bool kWholeVectors = false>
struct FloatRows {
  const float* data;
  int64_t stride;
  FloatRows(const T* from, int64_t row_stride, int64_t count, int64_t width, float* scratch) {
    if constexpr (std::is_same_v<T, float>) {
      if (!kWholeVectors || width % Pack<float>::kLanes == 0) {
        data = from, stride = row_stride;
        return;
      }
    }
    data = scratch, stride = PaddedWidth(width);
    for (int64_t j = 0; j < count; ++j) {
      float* const row = scratch + j * stride;
      for (int64_t d = width; d < stride; ++d) row[d] = 0;
      ForRow<T>(width, [&](int64_t d, auto extent) { Put(row + d, extent, Get(from + j * row_stride + d, extent)); });
    }
  }
};

}  // namespace
}  // namespace kk
