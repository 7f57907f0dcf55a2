// Derivatives of the norms and of their backward ops in a direction.
#pragma once

#include <cstdint>

#include "common/cpu/types.h"

namespace kk {

struct LayerNormFormula;
struct RmsNormFormula;
struct L2NormalizeFormula;

// Where and in which direction, and where the derivatives go. Tensors of [rows, width], weights of [width].
//
// One set of formulas serves three ops. Forward mode: the tangents of either op's results. Second order: with the gradients that
// arrive for the backward op's results as the direction, t_out is the gradient of d_out, and t_d_x and t_d_weight those of x and
// weight, since d_out . forward and backward . direction have the same derivatives.
template <class T>
struct NormTangentArgs {
  int64_t rows, width;
  double eps;
  const T* x;
  const T* d_out;  // null unless the backward op's tangents are asked for
  const T *t_x, *t_d_out;  // null: zero
  T* t_out;  // of the forward op; null: not requested
  T* t_d_x;  // of the backward op; null: none is requested
  // Whatever their dtype. weight: null where the op has none; the others, null: zero.
  const double *weight, *t_weight, *t_bias;
  double *t_d_weight, *t_d_bias;  // null: not requested
};

// Sums over rows are cut by shape, not by thread.
template <class Formula, class T>
void NormTangents(const NormTangentArgs<T>& args);

}  // namespace kk
