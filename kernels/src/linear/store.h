// The last step of a product: what is added to it, and the conversion to the result's type.
#pragma once

#include "../rows/row.h"
#include "linear.h"

namespace kk {
namespace {

// Columns [column, column + count) of a row of the result from `sums`.
template <class T>
inline void StoreRow(const LinearResult<T>& result, int64_t n, int64_t row, int64_t column, int64_t count,
                     const float* sums) {
  const int64_t at = row * n + column;
  ForRow<T>(count, [&](int64_t i, auto extent) {
    VF value = Get(sums + i, extent);
    if (result.bias) value += Get(result.bias + column + i, extent);
    if (result.residual) value += Get(result.residual + at + i, extent);
    Put(result.out + at + i, extent, value);
  });
}

}  // namespace
}  // namespace kk
