// pack_q4_0, pack_q4_1, pack_q8_0: blocks as they lie in a GGUF file, in the order that packed_linear reads them. And back, row by
// row: packed_embedding.
#include "header.h"

namespace kk {
namespace {

template <PackedFormat F>
void PackBlock(const uint8_t* from, int64_t row, uint8_t* block) {
  using T = PackedTraits<F>;
  constexpr int64_t kScaleBytes = T::kHasMin ? 4 : 2;
  const uint8_t* values = from + kScaleBytes;
  for (int64_t i = 0; i < kBlockColumns * T::kBits / 32; ++i) {
    uint32_t word;
    std::memcpy(&word, values + 4 * i, sizeof word);
    if (T::kBits == 8) word ^= 0x80808080;
    std::memcpy(block + 4 * (i * kGroupRows + row), &word, sizeof word);
  }
  uint8_t* scales = block + T::kValueBytes;
  std::memcpy(scales + 2 * row, from, 2);
  if (T::kHasMin) std::memcpy(scales + 2 * (kGroupRows + row), from + 2, 2);
}

template <PackedFormat F>
void PackOp(kp::TensorView blocks, kp::MutTensorView packed) {
  using T = PackedTraits<F>;
  const int64_t rows = blocks.size(0), per_row = blocks.size(1) / T::kGgmlBytes;
  auto* to = Data<uint8_t>(packed);
  const PackedWeight weight = {F, rows, per_row * kBlockColumns, to + sizeof(PackedHeader)};
  PackedHeader header = {{}, kPackedVersion, static_cast<uint32_t>(F), rows, weight.columns, {}};
  std::memcpy(header.magic, kPackedMagic, sizeof header.magic);
  std::memcpy(to, &header, sizeof header);
  const int64_t end = PackedBytes<F>(rows, per_row);
  std::memset(to + end, 0, static_cast<size_t>(packed.nbytes() - end));
  const int64_t group_bytes = per_row * T::kBlockBytes;
  ForRows(weight.groups(), group_bytes, [&](int64_t first, int64_t last) {
    for (int64_t g = first; g < last; ++g) {
      uint8_t* group = to + sizeof header + g * group_bytes;
      const int64_t here = std::min(kGroupRows, rows - g * kGroupRows);
      if (here < kGroupRows) std::memset(group, 0, static_cast<size_t>(group_bytes));
      for (int64_t r = 0; r < here; ++r) {
        const uint8_t* from = Data<uint8_t>(blocks) + (g * kGroupRows + r) * per_row * T::kGgmlBytes;
        for (int64_t b = 0; b < per_row; ++b) PackBlock<F>(from + b * T::kGgmlBytes, r, group + b * T::kBlockBytes);
      }
    }
  });
}

float FromHalf(const uint8_t* p) {
  kp::half value;
  std::memcpy(&value, p, sizeof value);
  return static_cast<float>(value);
}

template <PackedFormat F>
void UnpackRow(const PackedWeight& weight, int64_t row, float* out) {
  using T = PackedTraits<F>;
  const int64_t lane = row % kGroupRows;
  const uint8_t* block = weight.blocks + row / kGroupRows * weight.blocks_per_group() * T::kBlockBytes;
  for (int64_t column = 0; column < weight.columns; column += kBlockColumns, block += T::kBlockBytes) {
    const uint8_t* scales = block + T::kValueBytes;
    const float d = FromHalf(scales + 2 * lane);
    const float m = T::kHasMin ? FromHalf(scales + 2 * (kGroupRows + lane)) : d * -T::kOffset;
    for (int64_t k = 0; k < kBlockColumns; ++k) {
      const bool high = T::kBits == 4 && k >= kBlockColumns / 2;
      const int64_t byte = high ? k - kBlockColumns / 2 : k;
      const int value = block[4 * (byte / 4 * kGroupRows + lane) + byte % 4];
      out[column + k] = d * (T::kBits == 8 ? value : high ? value >> 4 : value & 15) + m;
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

KP_DOC(pack_q4_0,
       "Weights as ggml's Q4_0 blocks, a row of bytes for each row, in the order that packed_linear reads: a tensor "
       "that can be "
       "saved, but not cut or reshaped.");
KP_EXPORT(pack_q4_0, kk::PackOp<kk::PackedFormat::kQ4_0>,
          "(blocks: u8[N, B]) -> (weight: u8[N, ceildiv(64 + ceildiv(N, 16) * (B // 18) * 288, N)]) "
          "where N > 0, B % 18 == 0 with deterministic");
KP_DOC(pack_q4_1, "Weights as ggml's Q4_1 blocks in the order that packed_linear reads; see pack_q4_0.");
KP_EXPORT(pack_q4_1, kk::PackOp<kk::PackedFormat::kQ4_1>,
          "(blocks: u8[N, B]) -> (weight: u8[N, ceildiv(64 + ceildiv(N, 16) * (B // 20) * 320, N)]) "
          "where N > 0, B % 20 == 0 with deterministic");
KP_DOC(pack_q8_0, "Weights as ggml's Q8_0 blocks in the order that packed_linear reads; see pack_q4_0.");
KP_EXPORT(pack_q8_0, kk::PackOp<kk::PackedFormat::kQ8_0>,
          "(blocks: u8[N, B]) -> (weight: u8[N, ceildiv(64 + ceildiv(N, 16) * (B // 34) * 544, N)]) "
          "where N > 0, B % 34 == 0 with deterministic");
KP_DOC(packed_embedding, "Rows of a packed weight, as f32. `columns` is how many it has.");
KP_EXPORT(packed_embedding, kk::PackedEmbedding,
          "(weight: u8[V, P], indices: I[...], *, columns: int) -> (out: f32[..., columns]) "
          "where I in {i32, i64}, columns >= 0 with deterministic");
