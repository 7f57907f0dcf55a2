// The layout of packed weights, version 1: what pack_q4_0 and its kin write and packed_linear reads.
//
// A tensor u8[rows, pitch], so that its shape tells how many rows there are: a header of 64 bytes, then groups of 16 rows, each a
// block for every 32 columns; the rest is zeros. Integers are little-endian. A block begins with the values of 16 rows, in
// 32-bit lanes, a lane for each row:
//   4 bits: lane r of word i, byte j: column 4 i + j in the low half, column 16 + 4 i + j in the high half; 4 words
//   8 bits: lane r of word i, byte j: column 4 i + j, stored with 128 added; 8 words
// Then 16 scales d as f16 and, for q4_1, 16 minima m. A weight is d * value + m; where m isn't stored it is -8 d, or -128 d.
// Rows beyond the last one are zeros. No code that depends on the CPU level.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kk {

constexpr int64_t kGroupRows = 16;
constexpr int64_t kBlockColumns = 32;

enum class PackedFormat : uint32_t { kQ4_0 = 0, kQ4_1 = 1, kQ8_0 = 2 };

// Of a format F: bits of a value, bytes of the values of a block, whether minima are stored, else what values are moved by.
template <PackedFormat F>
struct PackedTraits {
  static constexpr int kBits = F == PackedFormat::kQ8_0 ? 8 : 4;
  static constexpr bool kHasMin = F == PackedFormat::kQ4_1;
  static constexpr int kOffset = F == PackedFormat::kQ8_0 ? 128 : kHasMin ? 0 : 8;
  static constexpr int64_t kValueBytes = kGroupRows * kBlockColumns * kBits / 8;
  static constexpr int64_t kBlockBytes = kValueBytes + 2 * kGroupRows * (kHasMin ? 2 : 1);
  static constexpr int64_t kGgmlBytes = kBlockColumns * kBits / 8 + (kHasMin ? 4 : 2);  // of a block in a GGUF file
};

struct PackedHeader {
  char magic[8];
  uint32_t version;
  uint32_t format;
  int64_t rows;
  int64_t columns;
  uint8_t reserved[32];  // zeros
};
static_assert(sizeof(PackedHeader) == 64);

constexpr char kPackedMagic[9] = "kplinear";
constexpr uint32_t kPackedVersion = 1;

// What a packed tensor holds, once its header has been checked.
struct PackedWeight {
  PackedFormat format;
  int64_t rows, columns;
  const uint8_t* blocks;

  int64_t groups() const { return (rows + kGroupRows - 1) / kGroupRows; }
  int64_t blocks_per_group() const { return columns / kBlockColumns; }
};

// f(integral_constant of the format).
template <class F>
void DispatchFormat(PackedFormat format, F f) {
  switch (format) {
    case PackedFormat::kQ4_0:
      return f(std::integral_constant<PackedFormat, PackedFormat::kQ4_0>());
    case PackedFormat::kQ4_1:
      return f(std::integral_constant<PackedFormat, PackedFormat::kQ4_1>());
    case PackedFormat::kQ8_0:
      return f(std::integral_constant<PackedFormat, PackedFormat::kQ8_0>());
  }
}

}  // namespace kk
