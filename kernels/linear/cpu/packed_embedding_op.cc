// packed_embedding: rows of packed weights, as floats.
#include "packed_dense.h"
#include "packed_header.h"
#include "linear/contract.h"
#include "linear/unpack.h"

namespace kk {
namespace {

template <PackedFormat F>
void UnpackRow(const PackedWeight& weight, int64_t row, float* out) {
  const int64_t lane = row % kGroupRows;
  BlockCursor<F> at(weight, row / kGroupRows, 0);
  for (int64_t column = 0; column < weight.columns; column += kBlockColumns, at.Next()) {
    for (int64_t k = 0; k < kBlockColumns; ++k) {
      const ScaleAndMinimum of = UnpackScale<F>(at, lane, k);
      out[column + k] = of.d * static_cast<float>(BlockValue<PackedTraits<F>::kBits>(at.block(), lane, k)) + of.m;
    }
  }
}

// The rows of `indices`, each written by row(index, to).
template <class Row>
void Gather(kp::TensorView indices, int64_t rows, int64_t columns, kp::MutTensorView out, Row row) {
  kp::dispatch<int32_t, int64_t>(indices.dtype(), [&](auto t) {
    using Index = typename decltype(t)::type;
    const Index* index = Data<Index>(indices);
    ForRows(indices.numel(), columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        KP_CHECK(index[i] >= 0 && index[i] < rows, IndexError)
            << "indices: element " << i << " is " << index[i] << ", but weight has " << rows << " rows";
        row(index[i], Data<float>(out) + i * columns);
      }
    });
  });
}

void CheckColumns(int64_t columns, int64_t of_weight) {
  KP_CHECK(columns == of_weight, ValueError)
      << "columns: expected " << of_weight << ", as the weight has, got " << columns;
}

void PackedEmbedding(kp::TensorView weight, kp::TensorView indices, int64_t columns, kp::MutTensorView out) {
  if (weight.dtype() == kp::dtype_of<uint8_t>) {
    const PackedWeight table = ReadPacked(weight);
    CheckColumns(columns, table.columns);
    Gather(indices, table.rows, columns, out, [&](int64_t row, float* to) {
      DispatchFormat(table.format, [&](auto format) { UnpackRow<decltype(format)::value>(table, row, to); });
    });
    return;
  }
  kp::dispatch<float, kp::half, kp::bfloat16>(weight.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    const auto table = ReadPackedDense<typename Storage<T>::Type>(weight);
    CheckColumns(columns, table.matrix.columns);
    const T* panels = Data<T>(weight) + kHeaderItems;
    Gather(indices, table.matrix.rows, columns, out, [&](int64_t row, float* to) {
      for (int64_t column = 0; column < columns; ++column)
        to[column] = static_cast<float>(panels[PackedItem<T>(row, column, columns)]);
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(packed_embedding,
       "Rows of a weight from pack_linear, pack_q4_0 or another pack function, as f32. columns is the number of the "
       "weight's columns.");
KP_EXPORT(packed_embedding, kk::PackedEmbedding, KK_PACKED_EMBEDDING_CONTRACT);
