// packed_embedding: rows of packed weights, as floats.
#include "header.h"
#include "packed_contract.h"
#include "unpack.h"

namespace kk {
namespace {

template <PackedFormat F>
void UnpackRow(const PackedWeight& weight, int64_t row, float* out) {
  const int64_t lane = row % kGroupRows;
  BlockCursor<F> at(weight, row / kGroupRows, 0);
  for (int64_t column = 0; column < weight.columns; column += kBlockColumns, at.Next()) {
    for (int64_t k = 0; k < kBlockColumns; ++k) {
      const ScaleAndMinimum of = ScaleOf(at, lane, k);
      out[column + k] = of.d * static_cast<float>(BlockValue<PackedTraits<F>::kBits>(at.block(), lane, k)) + of.m;
    }
  }
}

void PackedEmbedding(kp::TensorView weight, kp::TensorView indices, int64_t columns, kp::MutTensorView out) {
  const PackedWeight table = ReadPacked(weight);
  KP_CHECK(columns == table.columns, ValueError)
      << "columns: expected " << table.columns << ", as the weight has, got " << columns;
  kp::dispatch<int32_t, int64_t>(indices.dtype(), [&](auto t) {
    using Index = typename decltype(t)::type;
    const Index* index = Data<Index>(indices);
    ForRows(indices.numel(), columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        KP_CHECK(index[i] >= 0 && index[i] < table.rows, IndexError)
            << "indices: element " << i << " is " << index[i] << ", but weight has " << table.rows << " rows";
        DispatchFormat(table.format, [&](auto format) {
          UnpackRow<decltype(format)::value>(table, index[i], Data<float>(out) + i * columns);
        });
      }
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(packed_embedding, "Rows of a packed weight, as f32. columns is the number of the weight's columns.");
KP_EXPORT(packed_embedding, kk::PackedEmbedding, KK_PACKED_EMBEDDING_CONTRACT);
