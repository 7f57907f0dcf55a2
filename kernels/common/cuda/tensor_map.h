// Tensor maps of 16-bit numbers, of which copies take boxes of rows of 64, as wgmma reads them (tensor_copy.cuh, wgmma.cuh).
#pragma once

#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

#include <algorithm>
#include <array>

namespace kk_cuda {

// Extents, the innermost first, and strides of the others, in numbers. A box has `rows` of the second dimension.
inline KpTensorMap GetMap(const char* name, kernpack::TensorView x, std::array<int64_t, 4> extents,
                          std::array<int64_t, 3> strides, uint32_t rows) {
  constexpr uint32_t kHalf = 6, kBfloat = 9, kSwizzle128 = 3, kPromoteTo128 = 2;  // as cuTensorMapEncodeTiled has them
  KpTensorMap map{};
  map.handle = x.raw().data, map.offset = x.raw().byte_offset, map.tensor = name, map.rank = 4;
  map.element_type = x.dtype() == kernpack::dtype_of<kernpack::half> ? kHalf : kBfloat;
  map.swizzle = kSwizzle128, map.l2_promotion = kPromoteTo128;
  for (size_t d = 0; d < 4; ++d) map.extents[d] = extents[d], map.steps[d] = 1, map.box[d] = 1;
  for (size_t d = 0; d < 3; ++d)
    map.strides[d] = extents[d + 1] == 1 ? 16 : strides[d] * x.itemsize();  // of one, none counts
  map.box[0] = 64, map.box[1] = rows;
  return map;
}

}  // namespace kk_cuda
