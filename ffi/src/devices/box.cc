#include "devices/box.h"

namespace kernpack::host {

Box::Box(const KpDLTensor& from, const KpDLTensor& to) {
  element_bytes_ = static_cast<uint32_t>(ElementBits(from.dtype) / 8);
  bytes_ = static_cast<uint64_t>(NumBytes(from));
  int64_t compact[kMaxNdim];
  kp_row_major_strides(from.ndim, from.shape, compact);
  const int64_t* from_strides = from.strides != nullptr ? from.strides : compact;
  const int64_t* to_strides = to.strides != nullptr ? to.strides : compact;
  for (int32_t i = 0; i < from.ndim; ++i) {
    const int64_t extent = from.shape[i];
    if (extent == 1) continue;
    const int64_t from_stride = from_strides[i] * element_bytes_;
    const int64_t to_stride = to_strides[i] * element_bytes_;
    const int32_t last = ndim_ - 1;
    if (ndim_ > 0 && from_strides_[last] == from_stride * extent && to_strides_[last] == to_stride * extent) {
      shape_[last] *= extent;
      from_strides_[last] = from_stride;
      to_strides_[last] = to_stride;
      continue;
    }
    shape_[ndim_] = extent;
    from_strides_[ndim_] = from_stride;
    to_strides_[ndim_] = to_stride;
    ++ndim_;
  }
  if (ndim_ > 0) return;
  ndim_ = 1;  // one element
  shape_[0] = 1;
  from_strides_[0] = to_strides_[0] = element_bytes_;
}

bool Box::IsRun(const int64_t* strides) const {
  int64_t step = element_bytes_;
  for (int32_t i = ndim_ - 1; i >= 0; --i) {
    if (strides[i] != step) return false;
    step *= shape_[i];
  }
  return true;
}

int32_t Box::RowDims() const {
  const int32_t last = ndim_ - 1;
  return from_strides_[last] == element_bytes_ && to_strides_[last] == element_bytes_ ? last : ndim_;
}

Box Box::Packed(int64_t (Box::*strides)[kMaxNdim]) const {
  Box packed = *this;
  int64_t step = element_bytes_;
  for (int32_t i = ndim_ - 1; i >= 0; --i) {
    (packed.*strides)[i] = step;
    step *= shape_[i];
  }
  return packed;
}

}  // namespace kernpack::host
