#include "f64.h"

#include <algorithm>
#include <cmath>

#include "common/cpu/constants.h"

namespace kk {
namespace {

constexpr double kTanhScale = 0.79788456080286535588;  // sqrt(2 / pi)
constexpr double kTanhCube = 0.044715;

double Activated(Activation activation, double x) {
  switch (activation) {
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kGelu:
      return x * 0.5 * std::erfc(-x * kSqrtHalf);
    case Activation::kGeluTanh:
      return x * 0.5 * (1 + std::tanh(kTanhScale * (x + kTanhCube * x * x * x)));
    default:
      return x;
  }
}

double Slope(Activation activation, double x) {
  switch (activation) {
    case Activation::kRelu:
      return x > 0 ? 1 : 0;
    case Activation::kSilu: {
      const double s = 1 / (1 + std::exp(-x));
      return s * (1 + x * (1 - s));
    }
    case Activation::kGelu:
      return 0.5 * std::erfc(-x * kSqrtHalf) + x * std::exp(-0.5 * x * x) * 0.5 * kTanhScale;
    case Activation::kGeluTanh: {
      const double t = std::tanh(kTanhScale * (x + kTanhCube * x * x * x));
      return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kTanhScale * (1 + 3 * kTanhCube * x * x);
    }
    default:
      return 1;
  }
}

double Weight(const Matrix<double>& w, int64_t n, int64_t k) { return w.data[n * w.row_stride + k * w.column_stride]; }

double Product(const double* x, const Matrix<double>& w, int64_t n, const double* bias) {
  double sum = bias ? bias[n] : 0;
  for (int64_t k = 0; k < w.columns; ++k) sum += x[k] * Weight(w, n, k);
  return sum;
}

}  // namespace

void LinearF64(const double* x, int64_t rows, const Matrix<double>& w, const double* bias, const double* residual,
               Activation activation, double* out) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t n = 0; n < w.rows; ++n) {
      const int64_t at = r * w.rows + n;
      out[at] = Activated(activation, Product(x + r * w.columns, w, n, bias)) + (residual ? residual[at] : 0);
    }
  }
}

void LinearBackwardF64(const double* d_out, const double* x, int64_t rows, const Matrix<double>& w, const double* bias,
                       Activation activation, const LinearGradientsF64& to) {
  const int64_t columns = w.columns;
  std::fill(to.d_x, to.d_x + rows * columns, 0.0);
  std::fill(to.d_weight, to.d_weight + w.rows * columns, 0.0);
  std::fill(to.d_bias, to.d_bias + w.rows, 0.0);
  for (int64_t r = 0; r < rows; ++r) {
    const double* row = x + r * columns;
    for (int64_t n = 0; n < w.rows; ++n) {
      double d = d_out[r * w.rows + n];
      if (activation != Activation::kNone) d *= Slope(activation, Product(row, w, n, bias));
      to.d_bias[n] += d;
      for (int64_t k = 0; k < columns; ++k) {
        to.d_x[r * columns + k] += d * Weight(w, n, k);
        to.d_weight[n * columns + k] += d * row[k];
      }
    }
  }
}

}  // namespace kk
