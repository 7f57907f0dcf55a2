// Writing packed weights, group by group.
#pragma once

#include "packed_header.h"

namespace kk {

// Row `row` of a block from its 32 values.
template <int kBits>
void StoreValues(const uint8_t* values, int64_t row, uint8_t* block) {
  uint8_t bytes[kBlockColumns] = {};
  constexpr int64_t kCount = kBlockColumns * kBits / 8;
  if constexpr (kBits == 8) {
    std::memcpy(bytes, values, sizeof bytes);
  } else {
    for (int64_t p = 0; p < 16; ++p) bytes[p] = static_cast<uint8_t>((values[p] & 15) | (values[16 + p] & 15) << 4);
  }
  if constexpr (kBits == 6) {
    for (int64_t k = 0; k < kBlockColumns; ++k) {
      bytes[16 + k / 16 * 4 + k % 4] |= static_cast<uint8_t>(values[k] >> 4 << (2 * (k % 16 / 4)));
    }
  }
  for (int64_t i = 0; i < kCount / 4; ++i) std::memcpy(block + 4 * (i * kGroupRows + row), bytes + 4 * i, 4);
}

// Fills `packed` with the header and, by write(group, row, to), each row of each group; `to` is where the group begins.
template <PackedFormat F, class Write>
void WritePacked(int64_t rows, int64_t columns, int64_t blocks_per_tail, kp::MutTensorView packed, Write write) {
  auto* to = Data<uint8_t>(packed);
  const int64_t blocks = columns / kBlockColumns;
  PackedHeader header = {{}, kPackedVersion, static_cast<uint32_t>(F), rows, columns, blocks_per_tail, {}};
  std::memcpy(header.magic, kPackedMagic, sizeof header.magic);
  std::memcpy(to, &header, sizeof header);
  const int64_t end = PackedBytes<F>(rows, blocks, blocks_per_tail);
  std::memset(to + end, 0, static_cast<size_t>(packed.nbytes() - end));
  const int64_t group_bytes = GroupBytes<F>(blocks, blocks_per_tail);
  ForRows((rows + kGroupRows - 1) / kGroupRows, group_bytes, [&](int64_t first, int64_t last) {
    for (int64_t g = first; g < last; ++g) {
      uint8_t* group = to + sizeof header + g * group_bytes;
      const int64_t here = std::min(kGroupRows, rows - g * kGroupRows);
      if (here < kGroupRows) std::memset(group, 0, static_cast<size_t>(group_bytes));
      for (int64_t r = 0; r < here; ++r) write(g * kGroupRows + r, r, group);
    }
  });
}

}  // namespace kk
