// The header of packed weights: written by pack_q4_0 and similar ops, checked by every reader.
#pragma once

#include "common/cpu/ops.h"
#include "linear/packed.h"

namespace kk {

constexpr const char* kPackers = "pack_q4_0, pack_q4_1, pack_q8_0, pack_q4_k, pack_q6_k, pack_int4 or pack_int8";

template <PackedFormat F>
int64_t PackedBytes(int64_t rows, int64_t blocks, int64_t blocks_per_tail) {
  return static_cast<int64_t>(sizeof(PackedHeader)) +
         (rows + kGroupRows - 1) / kGroupRows * GroupBytes<F>(blocks, blocks_per_tail);
}

// Throws where the tensor doesn't begin with a header of this layout and its own rows.
inline PackedHeader ReadHeader(kp::TensorView packed, const char* packers) {
  PackedHeader header;
  KP_CHECK(packed.nbytes() >= static_cast<int64_t>(sizeof header), ValueError)
      << "weight: expected a tensor that " << packers << " has made, got " << packed.nbytes()
      << " bytes, less than their header";
  std::memcpy(&header, packed.data_ptr(), sizeof header);
  KP_CHECK(std::memcmp(header.magic, kPackedMagic, sizeof header.magic) == 0, ValueError)
      << "weight: expected a tensor that " << packers << " has made, got one that has no such header";
  KP_CHECK(header.version == kPackedVersion, ValueError)
      << "weight: expected version " << kPackedVersion << " of the packed layout, got version " << header.version
      << ": pack the weights again, or use the version of kernpack_kernels that packed them";
  KP_CHECK(header.rows == packed.size(0), ValueError)
      << "weight: its header says " << header.rows << " rows, its shape " << packed.size(0)
      << ": a packed tensor can't be cut or reshaped";
  return header;
}

// The weights in a tensor u8[rows, pitch]. Throws where it isn't one that was packed, or is cut.
inline PackedWeight ReadPacked(kp::TensorView packed) {
  const PackedHeader header = ReadHeader(packed, kPackers);
  const auto format = static_cast<PackedFormat>(header.format);
  KP_CHECK(header.format <= static_cast<uint32_t>(PackedFormat::kInt8), ValueError)
      << "weight: expected a tensor that " << kPackers << " has made, got one of the unknown format " << header.format;
  int64_t bytes = -1;
  const int64_t blocks = header.columns / kBlockColumns, per_tail = header.blocks_per_tail;
  if (header.columns >= 0 && header.columns % kBlockColumns == 0 && header.columns <= packed.nbytes() * 2) {
    DispatchFormat(format, [&](auto f) {
      constexpr PackedFormat kFormat = decltype(f)::value;
      const bool fits = PackedTraits<kFormat>::kTailBytes ? per_tail > 0 && blocks % per_tail == 0 : per_tail == 0;
      if (fits) bytes = PackedBytes<kFormat>(header.rows, blocks, per_tail);
    });
  }
  KP_CHECK(bytes >= 0 && bytes <= packed.nbytes(), ValueError)
      << "weight: its header says " << header.columns << " columns, which its " << packed.nbytes()
      << " bytes don't hold: the tensor is damaged";
  return {format, header.rows, header.columns, per_tail,
          static_cast<const uint8_t*>(packed.data_ptr()) + sizeof header};
}

}  // namespace kk
