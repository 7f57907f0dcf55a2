// embedding: a block per index, which copies a row of the table in the widest pieces that its place and its size allow.
#include <cassert>

#include "common/cuda/layout.h"

namespace kk_cuda {
namespace {

// Null for `from`: zeros.
template <class Piece>
__device__ void Copy(const char* from, char* to, long long bytes) {
  for (long long i = threadIdx.x; i < bytes / static_cast<long long>(sizeof(Piece)); i += blockDim.x) {
    reinterpret_cast<Piece*>(to)[i] = from ? reinterpret_cast<const Piece*>(from)[i] : Piece{};
  }
}

}  // namespace
}  // namespace kk_cuda

extern "C" __global__ void __launch_bounds__(128)
    embedding(const char* table, const void* indices, char* out, kk_cuda::EmbeddingParams p) {
  const long long row = blockIdx.x;
  const long long index = p.wide ? static_cast<const long long*>(indices)[row] : static_cast<const int*>(indices)[row];
  // The host doesn't know the indices, and waiting for them would stop the stream.
  const bool embedding_index_is_in_the_table = index >= 0 && index < p.table_rows;
  assert(embedding_index_is_in_the_table);
  if (!embedding_index_is_in_the_table) return;
  const char* const from = index == p.left_out ? nullptr : table + index * p.row_bytes;
  char* const to = out + row * p.row_bytes;
  const auto places = reinterpret_cast<unsigned long long>(from) | reinterpret_cast<unsigned long long>(to) |
                      static_cast<unsigned long long>(p.row_bytes);
  if (places % 16 == 0) {
    kk_cuda::Copy<uint4>(from, to, p.row_bytes);
  } else if (places % 4 == 0) {
    kk_cuda::Copy<unsigned>(from, to, p.row_bytes);
  } else {
    kk_cuda::Copy<unsigned short>(from, to, p.row_bytes);  // no element is smaller
  }
}
