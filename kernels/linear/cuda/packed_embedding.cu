// packed_embedding: a block per index, a thread per column of its row.
#include "packed.cuh"

extern "C" __global__ void __launch_bounds__(128)
    packed_embedding(const unsigned char* packed, const void* indices, float* out, kk_cuda::PackedEmbeddingParams p) {
  kk_cuda::WithPacked(packed, p.weight, [&](auto format, const kk::PackedWeight& weight) {
    constexpr kk::PackedFormat kFormat = decltype(format)::value;
    const long long index =
        p.wide ? static_cast<const long long*>(indices)[blockIdx.x] : static_cast<const int*>(indices)[blockIdx.x];
    const bool embedding_index_is_in_the_table = index >= 0 && index < weight.rows;
    assert(embedding_index_is_in_the_table);
    if (!embedding_index_is_in_the_table) return;
    for (long long column = threadIdx.x; column < weight.columns; column += blockDim.x) {
      const kk::BlockCursor<kFormat> at(weight, index / kk::kGroupRows, column / kk::kBlockColumns);
      const long long lane = index % kk::kGroupRows, k = column % kk::kBlockColumns;
      const kk::ScaleAndMinimum of = kk::UnpackScale<kFormat>(at, lane, k);
      const int value = kk::BlockValue<kk::PackedTraits<kFormat>::kBits>(at.block(), lane, k);
      out[blockIdx.x * weight.columns + column] =
          __fadd_rn(__fmul_rn(of.d, static_cast<float>(value)), of.m);  // as the CPU rounds
    }
  });
}
