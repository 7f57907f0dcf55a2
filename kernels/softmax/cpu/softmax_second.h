// What the derivatives of softmax share.
#pragma once

#include "common/cpu/ops.h"

namespace kk {

using Tensor = std::optional<kp::TensorView>;

// Row `row`; null where there is no tensor.
template <class T>
const T* RowOf(const Tensor& tensor, int64_t row, int64_t width) {
  return tensor ? Data<T>(*tensor) + row * width : nullptr;
}

}  // namespace kk
