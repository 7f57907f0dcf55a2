// Which row of a broadcast mask belongs to each row of a tensor.
#pragma once

#include <vector>

#include "common/cpu/ops.h"

namespace kk {

// Steps through the rows of a tensor in order. The mask's batch dimensions are the tensor's or 1; missing leading ones
// count as 1.
class MaskRows {
 public:
  MaskRows(kp::ShapeView x, kp::ShapeView mask, int64_t row) {
    const size_t batch = x.size() - 1, missing = x.size() - mask.size();
    sizes_.assign(x.begin(), x.begin() + batch);
    strides_.assign(batch, 0);
    index_.assign(batch, 0);
    int64_t stride = 1;
    for (size_t d = batch; d-- > missing;) {
      const int64_t size = mask[d - missing];
      if (size != 1) strides_[d] = stride;
      stride *= size;
    }
    // Row 0 is all zeros, and the only one asked for where a batch dimension is empty.
    for (size_t d = batch; row > 0 && d-- > 0; row /= sizes_[d]) {
      index_[d] = row % sizes_[d];
      row_ += index_[d] * strides_[d];
    }
  }

  int64_t row() const { return row_; }

  void Next() {
    for (size_t d = sizes_.size(); d-- > 0;) {
      row_ += strides_[d];
      if (++index_[d] < sizes_[d]) return;
      row_ -= sizes_[d] * strides_[d];
      index_[d] = 0;
    }
  }

 private:
  std::vector<int64_t> sizes_, strides_, index_;
  int64_t row_ = 0;
};

}  // namespace kk
