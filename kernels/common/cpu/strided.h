// Rows of tensors of any strides.
#pragma once

#include <vector>

#include "ops.h"

namespace kk {

// The rows (along the last dimension) of a tensor, in order, as contiguous ones: in place where they lie so, else copied.
template <class T>
class StridedRows {
 public:
  explicit StridedRows(kp::TensorView x) : x_(x), data_(Data<T>(x)), width_(LastDim(x)), step_(x.stride(-1)) {}

  bool in_place() const { return step_ == 1 || width_ <= 1; }

  const T* Row(int64_t row, std::vector<T>& copy) const {
    const T* from = data_ + Offset(row);
    if (in_place()) return from;
    copy.resize(static_cast<size_t>(width_));
    for (int64_t i = 0; i < width_; ++i) copy[i] = from[i * step_];
    return copy.data();
  }

  // Where row `row` begins.
  int64_t Offset(int64_t row) const {
    int64_t offset = 0;
    for (int64_t d = x_.dim() - 2; d >= 0; --d) {
      offset += row % x_.size(d) * x_.stride(d);
      row /= x_.size(d);
    }
    return offset;
  }

  int64_t step() const { return step_; }

 private:
  kp::TensorView x_;
  const T* data_;
  int64_t width_, step_;
};

// run(args, begin, end) over rows [begin, end) of a norm: at once where the rows of x lie one behind the other, else one by one.
template <class T, class Args, class F>
void ForNormRows(kp::TensorView x, const Args& args, int64_t begin, int64_t end, F run) {
  if (x.is_contiguous()) return run(args, begin, end);
  const StridedRows<T> rows(x);
  std::vector<T> copy;
  for (int64_t r = begin; r < end; ++r) run(args.Row(r, rows.Row(r, copy)), 0, 1);
}

}  // namespace kk
