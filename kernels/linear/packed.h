// The layout of packed weights, version 1: what pack_q4_0 and the like write and packed_linear reads. Dense weights: cpu/pack_linear_op.cc.
//
// A tensor u8[rows, pitch], so that its shape tells how many rows there are: a header of 64 bytes, then groups of 16 rows, each a
// block for every 32 columns; the rest is zeros. Integers are little-endian. A block begins with the values of 16 rows, in
// 32-bit lanes, a lane for each row:
//   4 bits: lane r of word i, byte j: column 4 i + j in the low half, column 16 + 4 i + j in the high half; 4 words
//   6 bits: the low 4 bits likewise; then 2 words whose byte j holds bits 4 and 5 of columns 16 w + 4 i + j in bits 2 i and 2 i + 1
//   8 bits: lane r of word i, byte j: column 4 i + j, stored with 128 added if it is signed; 8 words
// What values are scaled by, for 16 rows each, stands behind the values of the block, or, what several blocks share, behind the last of them (the tail):
//   q4_0, q8_0: f16 d; a weight is d * (value - 8), d * (value - 128)
//   q4_1: f16 d, f16 m: d * value + m
//   q4_k: u8 s, u8 t; tail of 8 blocks: f16 d, f16 m: d * s * value - m * t
//   q6_k: i8 s of the first 16 columns, i8 s of the others; tail of 8 blocks: f16 d: d * s * (value - 32)
//   int4, int8: tail of as many blocks as a scale covers: f32 d, f32 m: d * value + m
// Rows beyond the last one are zeros. No code that depends on the CPU level.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "common/everywhere.h"

namespace kk {

constexpr int64_t kGroupRows = 16;
constexpr int64_t kBlockColumns = 32;

enum class PackedFormat : uint32_t {
  kQ4_0 = 0,
  kQ4_1 = 1,
  kQ8_0 = 2,
  kQ4_K = 3,
  kQ6_K = 4,
  kInt4 = 5,
  kInt8 = 6,
  kF32 = 16,
  kF16 = 17,
  kBf16 = 18,
};

// Where scales come from.
enum class Scales { kHalf, kHalfMin, kQ4K, kQ6K, kFloats };

// Of a format: bits of a value, what values are moved by, bytes behind the values of a block and of a tail.
template <int kBits_, Scales kScales_, int kOffset_, int64_t kScaleBytes_, int64_t kTailBytes_>
struct FormatTraits {
  static constexpr int kBits = kBits_;
  static constexpr Scales kScales = kScales_;
  static constexpr int kOffset = kOffset_;
  static constexpr int kHalves = kScales == Scales::kQ6K ? 2 : 1;  // of a block, with scales of their own
  static constexpr int64_t kValueBytes = kGroupRows * kBlockColumns * kBits / 8;
  static constexpr int64_t kBlockBytes = kValueBytes + kScaleBytes_;
  static constexpr int64_t kTailBytes = kTailBytes_;
};

template <PackedFormat F>
struct PackedTraits;
template <>
struct PackedTraits<PackedFormat::kQ4_0> : FormatTraits<4, Scales::kHalf, 8, 32, 0> {};
template <>
struct PackedTraits<PackedFormat::kQ4_1> : FormatTraits<4, Scales::kHalfMin, 0, 64, 0> {};
template <>
struct PackedTraits<PackedFormat::kQ8_0> : FormatTraits<8, Scales::kHalf, 128, 32, 0> {};
template <>
struct PackedTraits<PackedFormat::kQ4_K> : FormatTraits<4, Scales::kQ4K, 0, 32, 64> {};
template <>
struct PackedTraits<PackedFormat::kQ6_K> : FormatTraits<6, Scales::kQ6K, 32, 32, 32> {};
template <>
struct PackedTraits<PackedFormat::kInt4> : FormatTraits<4, Scales::kFloats, 0, 0, 128> {};
template <>
struct PackedTraits<PackedFormat::kInt8> : FormatTraits<8, Scales::kFloats, 0, 0, 128> {};

struct PackedHeader {
  char magic[8];
  uint32_t version;
  uint32_t format;
  int64_t rows;
  int64_t columns;
  int64_t blocks_per_tail;  // 0 where there are no tails
  uint8_t reserved[24];  // zeros
};
static_assert(sizeof(PackedHeader) == 64);

constexpr char kPackedMagic[9] = "kplinear";
constexpr uint32_t kPackedVersion = 1;
constexpr int64_t kSuperBlocks = 8;  // of 32 columns in a block of ggml's K formats

// The content of a packed tensor, after its header has been checked.
struct PackedWeight {
  PackedFormat format;
  int64_t rows, columns, blocks_per_tail;
  const uint8_t* blocks;

  KK_EVERYWHERE int64_t groups() const { return (rows + kGroupRows - 1) / kGroupRows; }
  KK_EVERYWHERE int64_t blocks_per_group() const { return columns / kBlockColumns; }
};

// Bytes of a group of rows.
template <PackedFormat F>
KK_EVERYWHERE int64_t GroupBytes(int64_t blocks, int64_t blocks_per_tail) {
  using T = PackedTraits<F>;
  return blocks * T::kBlockBytes + (T::kTailBytes ? blocks / blocks_per_tail * T::kTailBytes : 0);
}

// Walks over the blocks of a group, and the tails that belong to them.
template <PackedFormat F>
class BlockCursor {
 public:
  KK_EVERYWHERE BlockCursor(const PackedWeight& weight, int64_t group, int64_t block)
      : block_(weight.blocks + group * GroupBytes<F>(weight.blocks_per_group(), weight.blocks_per_tail)) {
    if constexpr (T::kTailBytes > 0) {
      per_tail_ = weight.blocks_per_tail;
      const int64_t tail_bytes = per_tail_ * T::kBlockBytes + T::kTailBytes;
      block_ += block / per_tail_ * tail_bytes;
      tail_ = block_ + tail_bytes - T::kTailBytes;
      block_ += block % per_tail_ * T::kBlockBytes;
    } else {
      block_ += block * T::kBlockBytes;
    }
  }

  KK_EVERYWHERE const uint8_t* block() const { return block_; }
  KK_EVERYWHERE const uint8_t* tail() const { return tail_; }

  KK_EVERYWHERE void Next() {
    block_ += T::kBlockBytes;
    if constexpr (T::kTailBytes > 0) {
      if (block_ != tail_) return;
      block_ = tail_ + T::kTailBytes;
      tail_ = block_ + per_tail_ * T::kBlockBytes;
    }
  }

 private:
  using T = PackedTraits<F>;
  const uint8_t* block_;
  const uint8_t* tail_ = nullptr;
  int64_t per_tail_ = 0;
};

template <PackedFormat F>
using FormatConstant = std::integral_constant<PackedFormat, F>;

// f(integral_constant of the format), of those with blocks.
template <class F>
KK_EVERYWHERE void DispatchFormat(PackedFormat format, F f) {
  switch (format) {
    case PackedFormat::kQ4_0:
      return f(FormatConstant<PackedFormat::kQ4_0>());
    case PackedFormat::kQ4_1:
      return f(FormatConstant<PackedFormat::kQ4_1>());
    case PackedFormat::kQ8_0:
      return f(FormatConstant<PackedFormat::kQ8_0>());
    case PackedFormat::kQ4_K:
      return f(FormatConstant<PackedFormat::kQ4_K>());
    case PackedFormat::kQ6_K:
      return f(FormatConstant<PackedFormat::kQ6_K>());
    case PackedFormat::kInt4:
      return f(FormatConstant<PackedFormat::kInt4>());
    case PackedFormat::kInt8:
      return f(FormatConstant<PackedFormat::kInt8>());
    default:
      return;
  }
}

}  // namespace kk
