// Code that the derivatives of softmax share.
#pragma once

#include <cstdint>

#include "common/cpu/values.h"
#include "common/cpu/ops.h"

namespace kk {

// Derivatives of the softmax's gradient. p: the softmax's results, c: what arrives for them; g(c, p) = (c - <c, p>) p.
// Rows of `width` numbers. tangent = that of g where c and p move along t_c and t_p.
template <class R>
void SoftmaxGradientTangent(const Dual<R>* c, const Dual<R>* p, int64_t width, R* tangent) {
  Dual<R> dot;
  for (int64_t i = 0; i < width; ++i) dot += c[i] * p[i];
  for (int64_t i = 0; i < width; ++i) tangent[i] = ((c[i] - dot) * p[i]).tangent;
}

// The gradients of <u, g(c, p)>: d_c = g(u, p), d_p = u (c - <c, p>) - c <u, p>.
template <class R>
void SoftmaxSecondOrder(const R* u, const R* c, const R* p, int64_t width, R* d_c, R* d_p) {
  R up = 0, cp = 0;
  for (int64_t i = 0; i < width; ++i) {
    up += u[i] * p[i];
    cp += c[i] * p[i];
  }
  for (int64_t i = 0; i < width; ++i) {
    d_c[i] = (u[i] - up) * p[i];
    d_p[i] = u[i] * (c[i] - cp) - c[i] * up;
  }
}

using Tensor = std::optional<kp::TensorView>;

// Row `row`; null where there is no tensor.
template <class T>
const T* GetRow(const Tensor& tensor, int64_t row, int64_t width) {
  return tensor ? Data<T>(*tensor) + row * width : nullptr;
}

}  // namespace kk
