// Reading what pack_linear has made.
#pragma once

#include "dispatch.h"
#include "packed_header.h"
#include "dense.h"

namespace kk {

constexpr int64_t kHeaderItems = 64;

template <class T>
constexpr PackedFormat kDenseFormat = PackedFormat::kF32;
template <>
inline constexpr PackedFormat kDenseFormat<F16> = PackedFormat::kF16;
template <>
inline constexpr PackedFormat kDenseFormat<Bf16> = PackedFormat::kBf16;

// The place of a value among the packed ones, behind the header; pack_linear_op.cc describes the layout.
template <class T>
constexpr int64_t PackedItem(int64_t row, int64_t column, int64_t columns) {
  const int64_t r = row % kDenseRows, panel = row / kDenseRows * kDenseRows * PackedColumns(columns);
  return panel + (sizeof(T) == 4 ? column * kDenseRows + r : (column / 2 * kDenseRows + r) * 2 + column % 2);
}

// Throws where the tensor isn't one that was packed, or is cut.
template <class T>
DenseWeight<T> ReadPackedDense(kp::TensorView packed) {
  const PackedHeader header = ReadHeader(packed, "pack_linear");
  KP_CHECK(header.format == static_cast<uint32_t>(kDenseFormat<T>), ValueError)
      << "weight: expected a tensor that pack_linear has made of " << packed.dtype()
      << ", got one of another dtype: convert the weight and pack it again";
  const int64_t items = packed.numel() - kHeaderItems, rows = header.rows, columns = header.columns;
  const bool fits =
      columns >= 0 && columns <= items &&
      (columns == 0 || (rows + kDenseRows - 1) / kDenseRows * kDenseRows <= items / PackedColumns(columns));
  KP_CHECK(fits, ValueError) << "weight: its header says " << columns << " columns, which its " << packed.nbytes()
                             << " bytes don't hold: the tensor is damaged";
  return {{nullptr, rows, columns, 0, 0}, Data<T>(packed) + kHeaderItems};
}

}  // namespace kk
