// A whole product, on the host's threads.
#pragma once

#include "common/cpu/ops.h"
#include "dense.h"

namespace kk {

template <class T>
Matrix<T> Contiguous(const T* data, int64_t rows, int64_t columns) {
  return {data, rows, columns, columns, 1};
}

// `a` as the product reads it: as it lies where that does, else prepared in scratch memory of this thread.
template <class Level, class T>
DenseRows Prepared(const Matrix<T>& a, bool pairs) {
  const bool right_type = pairs ? std::is_same_v<T, Bf16> && a.columns % 2 == 0 && a.row_stride % 2 == 0 &&
                                      reinterpret_cast<uintptr_t>(a.data) % 4 == 0
                                : std::is_same_v<T, float>;
  if (right_type && a.column_stride == 1) return {pairs, a.data, a.rows, a.columns, a.row_stride};
  const int64_t stride = PackedColumns(a.columns);
  const kp::Workspace memory(kp::Device(), "dense rows", static_cast<uint64_t>(a.rows * stride * 4));
  ForRows(a.rows, stride,
          [&](int64_t begin, int64_t end) { PrepareRows<Level, T>(a, pairs, memory.data_as<float>(), begin, end); });
  return {pairs, memory.data_as<float>(), a.rows, a.columns, stride};
}

constexpr int64_t kDenseProductsPerThread = 1 << 18;  // a second thread pays from about so many on

// The result from a . b^T. `pairs`: by products of bf16 pairs, to which both are rounded.
template <class Level, class A, class W, class T>
void DenseProduct(const Matrix<A>& a, const DenseWeight<W>& b, const LinearResult<T>& result, bool pairs) {
  const int64_t n = b.matrix.rows;
  if (a.rows == 0 || n == 0) return;
  const bool dots = a.rows <= kFewDenseRows && !b.packed && b.matrix.column_stride == 1;
  const DenseRows rows = Prepared<Level>(a, pairs && !dots);
  const int64_t panels = (n + kDenseRows - 1) / kDenseRows, bands = (a.rows + kDenseBand - 1) / kDenseBand;
  const int64_t products = kDenseRows * std::max<int64_t>(1, a.columns) * std::min(a.rows, kDenseBand);
  const int64_t grain = std::max<int64_t>(1, kDenseProductsPerThread / products);
  kp::parallel_for(panels * bands, grain, [&](int64_t begin, int64_t end) {
    const kp::Workspace scratch(kp::Device(), "dense panel", kDenseScratch * sizeof(float));
    auto* unpacked = scratch.data_as<float>();
    float* sums = unpacked + kDenseRows * kDenseColumns;
    for (int64_t task = begin; task < end; ++task) {
      const int64_t panel = task % panels, column = panel * kDenseRows;
      const int64_t first = a.rows * (task / panels) / bands, last = a.rows * (task / panels + 1) / bands;
      if (dots) {
        DenseDots<Level, W>(b.matrix, rows, panel, sums);
      } else {
        DensePanel<Level, W>(b, rows, panel, first, last - first, unpacked, sums);
      }
      StoreSums<Level>(result, n, first, last - first, column, std::min(kDenseRows, n - column), sums, kDenseRows);
    }
  });
}

}  // namespace kk
