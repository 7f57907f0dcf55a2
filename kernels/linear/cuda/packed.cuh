// Packed weights on the device: their header is there, too, so that a wrong one is found there.
#pragma once

#include <cassert>

#include "linear/unpack.h"
#include "params.h"

namespace kk_cuda {

using kk::PackedFormat;

// f(integral_constant of the format, weight); a failed assertion where the tensor isn't a packed weight of integers with so many rows and columns.
template <class F>
__device__ inline void WithPacked(const unsigned char* packed, const PackedParams& p, const F& f) {
  const auto& header = *reinterpret_cast<const kk::PackedHeader*>(packed);
  bool weight_is_of_a_pack_function = p.weight_bytes >= static_cast<long long>(sizeof header);
  if (weight_is_of_a_pack_function) {
    for (int i = 0; i < 8; ++i) weight_is_of_a_pack_function &= header.magic[i] == "kplinear"[i];
    weight_is_of_a_pack_function &= header.version == kk::kPackedVersion && header.rows == p.weight_rows &&
                                    header.format <= static_cast<unsigned>(PackedFormat::kInt8);
  }
  assert(weight_is_of_a_pack_function);
  if (!weight_is_of_a_pack_function) return;
  const bool weight_has_the_columns = header.columns == p.columns;
  assert(weight_has_the_columns);
  if (!weight_has_the_columns) return;
  const long long blocks = p.columns / kk::kBlockColumns;
  const kk::PackedWeight weight = {static_cast<PackedFormat>(header.format), header.rows, header.columns,
                                   header.blocks_per_tail, packed + sizeof header};
  kk::DispatchFormat(weight.format, [&](auto format) {
    using Traits = kk::PackedTraits<decltype(format)::value>;
    bool weight_is_whole = p.columns % kk::kBlockColumns == 0;
    if (Traits::kTailBytes > 0) weight_is_whole &= header.blocks_per_tail > 0 && blocks % header.blocks_per_tail == 0;
    if (weight_is_whole) {
      weight_is_whole = static_cast<long long>(sizeof header) +
                            weight.groups() * kk::GroupBytes<decltype(format)::value>(blocks, weight.blocks_per_tail) <=
                        p.weight_bytes;
    }
    assert(weight_is_whole);
    if (weight_is_whole) f(format, weight);
  });
}

}  // namespace kk_cuda
