// The header of packed weights: written by pack_q4_0 and its kin, checked by whatever reads them.
#pragma once

#include "../ops/common.h"
#include "packed.h"

namespace kk {

template <PackedFormat F>
int64_t PackedBytes(int64_t rows, int64_t blocks) {
  return static_cast<int64_t>(sizeof(PackedHeader)) +
         (rows + kGroupRows - 1) / kGroupRows * blocks * PackedTraits<F>::kBlockBytes;
}

// The weights in a tensor u8[rows, pitch]. Throws where it isn't one that was packed, or is cut.
inline PackedWeight ReadPacked(kp::TensorView packed) {
  constexpr const char* kExpected = "weight: expected a tensor that pack_q4_0, pack_q4_1 or pack_q8_0 has made, got ";
  PackedHeader header;
  KP_CHECK(packed.nbytes() >= static_cast<int64_t>(sizeof header), ValueError)
      << kExpected << packed.nbytes() << " bytes, less than their header";
  std::memcpy(&header, packed.data_ptr(), sizeof header);
  KP_CHECK(std::memcmp(header.magic, kPackedMagic, sizeof header.magic) == 0, ValueError)
      << kExpected << "one that doesn't begin as theirs do";
  KP_CHECK(header.version == kPackedVersion, ValueError)
      << "weight: expected version " << kPackedVersion << " of the packed layout, got version " << header.version
      << ": pack the weights again, or use the version of kernpack_kernels that packed them";
  const auto format = static_cast<PackedFormat>(header.format);
  KP_CHECK(header.format <= static_cast<uint32_t>(PackedFormat::kQ8_0), ValueError)
      << kExpected << "one of the unknown format " << header.format;
  KP_CHECK(header.rows == packed.size(0), ValueError)
      << "weight: its header says " << header.rows << " rows, its shape " << packed.size(0)
      << ": a packed tensor can't be cut or reshaped";
  int64_t bytes = -1;
  if (header.columns >= 0 && header.columns % kBlockColumns == 0 && header.columns <= packed.nbytes() * 2) {
    DispatchFormat(
        format, [&](auto f) { bytes = PackedBytes<decltype(f)::value>(header.rows, header.columns / kBlockColumns); });
  }
  KP_CHECK(bytes >= 0 && bytes <= packed.nbytes(), ValueError)
      << "weight: its header says " << header.columns << " columns, which its " << packed.nbytes()
      << " bytes don't hold: the tensor is damaged";
  return {format, header.rows, header.columns, static_cast<const uint8_t*>(packed.data_ptr()) + sizeof header};
}

}  // namespace kk
