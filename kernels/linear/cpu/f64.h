// linear and its gradient in f64, for checking gradients: one number at a time.
#pragma once

#include "dense.h"

namespace kk {

// x: [rows, w.columns]; bias and residual may be null.
void LinearF64(const double* x, int64_t rows, const Matrix<double>& w, const double* bias, const double* residual,
               Activation activation, double* out);

struct LinearGradientsF64 {
  double *d_x, *d_weight, *d_bias;
};
void LinearBackwardF64(const double* d_out, const double* x, int64_t rows, const Matrix<double>& w, const double* bias,
                       Activation activation, const LinearGradientsF64& to);

}  // namespace kk
