// pack_linear: a dense matrix in the order that packed_linear reads.
//
// The layout of packed dense weights, version 1, a tensor T[rows, pitch]: 64 items that begin with the header of
// linear/packed.h, then panels of 64 rows. A panel of f32 holds the values of its rows side by side, column by column; one of 16 bits pairs
// neighbouring columns: item (column / 2 * 64 + row) * 2 + column % 2. There is an even number of columns. Rows and columns
// beyond the last are zeros, and so is the rest.
#include "packed_dense.h"

namespace kk {
namespace {

template <class T>
void PackPanel(const T* weight, int64_t rows, int64_t columns, T* panel) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) panel[PackedItem<T>(r, c, columns)] = weight[r * columns + c];
  }
}

void PackLinear(kp::TensorView weight, kp::MutTensorView packed) {
  const int64_t rows = weight.size(0), columns = weight.size(1);
  std::memset(packed.data_ptr(), 0, static_cast<size_t>(packed.nbytes()));
  DispatchLinear(weight.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    PackedHeader header = {{}, kPackedVersion, static_cast<uint32_t>(kDenseFormat<T>), rows, columns, 0, {}};
    std::memcpy(header.magic, kPackedMagic, sizeof header.magic);
    std::memcpy(packed.data_ptr(), &header, sizeof header);
    const int64_t panel_items = kDenseRows * PackedColumns(columns);
    ForRows((rows + kDenseRows - 1) / kDenseRows, panel_items, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        PackPanel(Data<T>(weight) + p * kDenseRows * columns, std::min(kDenseRows, rows - p * kDenseRows), columns,
                  Data<T>(packed) + kHeaderItems + p * panel_items);
      }
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(pack_linear,
       "Packs a dense weight for packed_linear. The result can be saved, but not sliced, reshaped or "
       "converted to another dtype.");
KP_EXPORT(pack_linear, kk::PackLinear,
          "(weight: T[N, K]) -> (packed: T[N, ceildiv(64 + ceildiv(N, 64) * 64 * ceildiv(K, 2) * 2, N)]) "
          "where T in {f32, f16, bf16}, N > 0 with deterministic");
