// Rows of any storage type as the floats that tiles are made of.
#pragma once

#include <type_traits>

#include "../rows/row.h"
#include "padded.h"

namespace kk {
namespace {

// With their stride: as they lie where they are floats, else copied.
template <class T>
struct FloatRows {
  const float* data;
  int64_t stride;
  FloatRows(const T* from, int64_t row_stride, int64_t count, int64_t width, float* scratch) {
    if constexpr (std::is_same_v<T, float>) {
      data = from, stride = row_stride;
    } else {
      data = scratch, stride = PaddedWidth(width);
      for (int64_t j = 0; j < count; ++j) {
        ForRow<T>(width, [&](int64_t d, auto extent) {
          Put(scratch + j * stride + d, extent, Get(from + j * row_stride + d, extent));
        });
      }
    }
  }
};

}  // namespace
}  // namespace kk
