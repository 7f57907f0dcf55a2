// pack_q4_0, pack_q4_1, pack_q8_0, pack_q4_k, pack_q6_k: blocks as they lie in a GGUF file, in the order that packed_linear reads.
#include "pack.h"

namespace kk {
namespace {

// A block in a GGUF file, and how many of ours it makes.
template <PackedFormat F>
struct GgmlBlock {
  static constexpr int64_t kBlocks = 1;
  static constexpr int64_t kScaleBytes = F == PackedFormat::kQ4_1 ? 4 : 2;
  static constexpr int64_t kBytes = kScaleBytes + kBlockColumns * PackedTraits<F>::kBits / 8;

  static void Pack(const uint8_t* from, int64_t row, uint8_t* block) {
    using T = PackedTraits<F>;
    for (int64_t i = 0; i < kBlockColumns * T::kBits / 32; ++i) {
      uint32_t word;
      std::memcpy(&word, from + kScaleBytes + 4 * i, sizeof word);
      if (T::kBits == 8) word ^= 0x80808080;
      std::memcpy(block + 4 * (i * kGroupRows + row), &word, sizeof word);
    }
    uint8_t* scales = block + T::kValueBytes;
    std::memcpy(scales + 2 * row, from, 2);
    if (kScaleBytes == 4) std::memcpy(scales + 2 * (kGroupRows + row), from + 2, 2);
  }
};

// f16 d, f16 m, 8 scales and 8 minima of 6 bits in 12 bytes, 256 values of 4 bits, those of two blocks in the halves of 32 bytes.
template <>
struct GgmlBlock<PackedFormat::kQ4_K> {
  static constexpr int64_t kBlocks = kSuperBlocks;
  static constexpr int64_t kBytes = 144;

  static void Pack(const uint8_t* from, int64_t row, uint8_t* blocks) {
    using T = PackedTraits<PackedFormat::kQ4_K>;
    const uint8_t *scales = from + 4, *values = from + 16;
    for (int64_t b = 0; b < kBlocks; ++b) {
      uint8_t* block = blocks + b * T::kBlockBytes;
      uint8_t of_block[kBlockColumns];
      for (int64_t k = 0; k < kBlockColumns; ++k) {
        const int byte = values[b / 2 * kBlockColumns + k];
        of_block[k] = static_cast<uint8_t>(b % 2 ? byte >> 4 : byte & 15);
      }
      StoreValues<4>(of_block, row, block);
      const int s = b < 4 ? scales[b] & 63 : (scales[b + 4] & 15) | scales[b - 4] >> 6 << 4;
      const int t = b < 4 ? scales[b + 4] & 63 : scales[b + 4] >> 4 | scales[b] >> 6 << 4;
      block[T::kValueBytes + row] = static_cast<uint8_t>(s);
      block[T::kValueBytes + kGroupRows + row] = static_cast<uint8_t>(t);
    }
    uint8_t* tail = blocks + kBlocks * T::kBlockBytes;
    std::memcpy(tail + 2 * row, from, 2);
    std::memcpy(tail + 2 * (kGroupRows + row), from + 2, 2);
  }
};

// 256 values of 6 bits: 128 bytes of their low halves, 64 of the rest, each for 128 values at a time; 16 scales; f16 d.
template <>
struct GgmlBlock<PackedFormat::kQ6_K> {
  static constexpr int64_t kBlocks = kSuperBlocks;
  static constexpr int64_t kBytes = 210;

  static void Pack(const uint8_t* from, int64_t row, uint8_t* blocks) {
    using T = PackedTraits<PackedFormat::kQ6_K>;
    const uint8_t *low = from, *high = from + 128, *scales = from + 192;
    for (int64_t b = 0; b < kBlocks; ++b) {
      uint8_t* block = blocks + b * T::kBlockBytes;
      const int64_t half = b / 4, quarter = b % 4;
      uint8_t of_block[kBlockColumns];
      for (int64_t k = 0; k < kBlockColumns; ++k) {
        const int byte = low[half * 64 + quarter % 2 * kBlockColumns + k];
        const int rest = high[half * kBlockColumns + k] >> (2 * quarter) & 3;
        of_block[k] = static_cast<uint8_t>((quarter < 2 ? byte & 15 : byte >> 4) | rest << 4);
      }
      StoreValues<6>(of_block, row, block);
      block[T::kValueBytes + row] = scales[2 * b];
      block[T::kValueBytes + kGroupRows + row] = scales[2 * b + 1];
    }
    std::memcpy(blocks + kBlocks * T::kBlockBytes + 2 * row, from + 208, 2);
  }
};

template <PackedFormat F>
void PackOp(kp::TensorView blocks, kp::MutTensorView packed) {
  using Ggml = GgmlBlock<F>;
  using T = PackedTraits<F>;
  constexpr int64_t kBytes = Ggml::kBlocks * T::kBlockBytes + T::kTailBytes;
  const int64_t per_row = blocks.size(1) / Ggml::kBytes;
  const auto* from = Data<uint8_t>(blocks);
  WritePacked<F>(blocks.size(0), per_row * Ggml::kBlocks * kBlockColumns, T::kTailBytes ? Ggml::kBlocks : 0, packed,
                 [&](int64_t row, int64_t lane, uint8_t* group) {
                   for (int64_t b = 0; b < per_row; ++b) {
                     Ggml::Pack(from + (row * per_row + b) * Ggml::kBytes, lane, group + b * kBytes);
                   }
                 });
}

}  // namespace
}  // namespace kk

KP_DOC(pack_q4_0,
       "Packs a weight in ggml's Q4_0 blocks, one row of bytes per row, for packed_linear. The result can "
       "be saved, but not sliced or reshaped.");
KP_EXPORT(pack_q4_0, kk::PackOp<kk::PackedFormat::kQ4_0>,
          "(blocks: u8[N, B]) -> (weight: u8[N, ceildiv(64 + ceildiv(N, 16) * (B // 18) * 288, N)]) "
          "where N > 0, B % 18 == 0 with deterministic");
KP_DOC(pack_q4_1, "Packs a weight in ggml's Q4_1 blocks for packed_linear; see pack_q4_0.");
KP_EXPORT(pack_q4_1, kk::PackOp<kk::PackedFormat::kQ4_1>,
          "(blocks: u8[N, B]) -> (weight: u8[N, ceildiv(64 + ceildiv(N, 16) * (B // 20) * 320, N)]) "
          "where N > 0, B % 20 == 0 with deterministic");
KP_DOC(pack_q8_0, "Packs a weight in ggml's Q8_0 blocks for packed_linear; see pack_q4_0.");
KP_EXPORT(pack_q8_0, kk::PackOp<kk::PackedFormat::kQ8_0>,
          "(blocks: u8[N, B]) -> (weight: u8[N, ceildiv(64 + ceildiv(N, 16) * (B // 34) * 544, N)]) "
          "where N > 0, B % 34 == 0 with deterministic");
KP_DOC(pack_q4_k, "Packs a weight in ggml's Q4_K blocks for packed_linear; see pack_q4_0.");
KP_EXPORT(pack_q4_k, kk::PackOp<kk::PackedFormat::kQ4_K>,
          "(blocks: u8[N, B]) -> (weight: u8[N, ceildiv(64 + ceildiv(N, 16) * (B // 144) * 2368, N)]) "
          "where N > 0, B % 144 == 0 with deterministic");
KP_DOC(pack_q6_k, "Packs a weight in ggml's Q6_K blocks for packed_linear; see pack_q4_0.");
KP_EXPORT(pack_q6_k, kk::PackOp<kk::PackedFormat::kQ6_K>,
          "(blocks: u8[N, B]) -> (weight: u8[N, ceildiv(64 + ceildiv(N, 16) * (B // 210) * 3360, N)]) "
          "where N > 0, B % 210 == 0 with deterministic");
