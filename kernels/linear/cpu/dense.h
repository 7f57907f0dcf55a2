// Products with dense matrices, a . b^T: plain pointers, compiled once per CPU level.
#pragma once

#include <type_traits>

#include "linear.h"

namespace kk {

// Panels of b are as many of its rows side by side, in order of its columns; as many columns are unpacked at a time.
constexpr int64_t kDenseRows = 64;
constexpr int64_t kDenseColumns = 512;
constexpr int64_t kDenseBand = 256;  // rows of a beside a panel, at most
// In floats, 64-byte aligned.
constexpr int64_t kDenseScratch = kDenseRows * (kDenseColumns + kDenseBand);

// A matrix in memory; strides in elements.
template <class T>
struct Matrix {
  const T* data;
  int64_t rows, columns, row_stride, column_stride;

  Matrix Transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

// b: a matrix, or one that pack_linear has made, whose panels then begin at `packed`.
template <class T>
struct DenseWeight {
  Matrix<T> matrix;  // without data where packed
  const T* packed;
};

// Columns of a panel of packed weights: an even number, so that values of 16 bits pair up. The layout is in pack_linear_op.cc.
constexpr int64_t PackedColumns(int64_t columns) { return (columns + 1) / 2 * 2; }

// a as the product reads it: rows of floats, or of bf16 pairs, `stride` values apart, an even number.
struct DenseRows {
  bool pairs;
  const void* data;
  int64_t rows, columns, stride;
};

// True if products of bf16 values are made by pairs at this level.
template <class Level>
struct DenseChoice {
  static bool HasPairs();
};

// bf16 values are multiplied as they are where the CPU level can.
template <class Level, class T>
bool DenseInPairs() {
  return std::is_same_v<T, Bf16> && DenseChoice<Level>::HasPairs();
}

// Rows [begin, end) of a to `to`, which has room for all: [rows, PackedColumns(columns)] floats or bf16.
template <class Level, class T>
void PrepareRows(const Matrix<T>& a, bool pairs, void* to, int64_t begin, int64_t end);

// sums[rows][kDenseRows]: rows [row, row + rows) of a by panel `panel` of b.
template <class Level, class T>
void DensePanel(const DenseWeight<T>& b, const DenseRows& a, int64_t panel, int64_t row, int64_t rows, float* unpacked,
                float* sums);

// The same for few rows of a, of floats, and a b whose rows are contiguous: b is read as it lies.
constexpr int64_t kFewDenseRows = 4;
template <class Level, class T>
void DenseDots(const Matrix<T>& b, const DenseRows& a, int64_t panel, float* sums);

}  // namespace kk
