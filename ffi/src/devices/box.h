// The shape of a copy between two tensors, as few dimensions as describe it.
#ifndef KERNPACK_SRC_DEVICES_BOX_H_
#define KERNPACK_SRC_DEVICES_BOX_H_

#include <cstdint>

#include <kernpack/device_api.h>

#include "values/tensor/dltensor.h"

namespace kernpack::host {

// Strides in bytes. Dimensions of one element are left out; two that run on in both tensors are one.
class Box {
 public:
  // Two validated tensors of one shape and dtype, with elements of whole bytes.
  Box(const KpDLTensor& from, const KpDLTensor& to);

  // All of it is one run of bytes in both tensors.
  bool is_run() const { return from_is_run() && to_is_run(); }
  bool from_is_run() const { return IsRun(from_strides_); }
  bool to_is_run() const { return IsRun(to_strides_); }
  uint64_t bytes() const { return bytes_; }
  KpStridedCopy view() const { return {ndim_, element_bytes_, shape_, from_strides_, to_strides_}; }

  // The same box with one side packed into a run.
  Box WithPackedFrom() const { return Packed(&Box::from_strides_); }
  Box WithPackedTo() const { return Packed(&Box::to_strides_); }

  // Calls run(from byte offset, to byte offset, bytes) for each run of bytes, in order, until one does not return 0.
  template <class Run>
  int ForEachRun(Run run) const {
    const int32_t rows = RowDims();
    const int64_t row_bytes = rows < ndim_ ? shape_[ndim_ - 1] * int64_t{element_bytes_} : element_bytes_;
    int64_t at[kMaxNdim] = {};
    while (true) {
      int64_t from = 0;
      int64_t to = 0;
      for (int32_t i = 0; i < rows; ++i) {
        from += at[i] * from_strides_[i];
        to += at[i] * to_strides_[i];
      }
      if (const int rc = run(from, to, static_cast<uint64_t>(row_bytes)); rc != 0) return rc;
      int32_t i = rows - 1;
      while (i >= 0 && ++at[i] == shape_[i]) at[i--] = 0;
      if (i < 0) return 0;
    }
  }

 private:
  Box Packed(int64_t (Box::*strides)[kMaxNdim]) const;
  bool IsRun(const int64_t* strides) const;
  // How many dimensions lie outside what is one run in both tensors.
  int32_t RowDims() const;

  int32_t ndim_ = 0;
  uint32_t element_bytes_ = 0;
  uint64_t bytes_ = 0;
  int64_t shape_[kMaxNdim];
  int64_t from_strides_[kMaxNdim];
  int64_t to_strides_[kMaxNdim];
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_BOX_H_
