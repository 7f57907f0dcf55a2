// The norms of one row and their gradients, for any kind of number: plain ones, and those that carry a derivative.
#pragma once

#include <cstdint>

#include "common/cpu/dual.h"

namespace kk {

// All arrays have `width` items. bias, d_weight and d_bias are null where the op has none or they are not requested.
template <class N>
struct NormRow {
  const N *x, *weight, *bias, *d_out;
  int64_t width;
  double eps;
};

struct LayerNormFormula {
  template <class N>
  static void Forward(const NormRow<N>& row, N* out) {
    const Unit<N> unit(row);
    for (int64_t i = 0; i < row.width; ++i) {
      const N value = unit(i) * row.weight[i];
      out[i] = row.bias ? value + row.bias[i] : value;
    }
  }

  // d_x is written, d_weight and d_bias are added to.
  template <class N>
  static void Backward(const NormRow<N>& row, N* d_x, N* d_weight, N* d_bias) {
    const Unit<N> unit(row);
    N level{}, along{};
    for (int64_t i = 0; i < row.width; ++i) {
      const N g = row.d_out[i] * row.weight[i];
      level += g;
      along += g * unit(i);
    }
    const N n = static_cast<Real<N>>(row.width);
    level = level / n;
    along = along / n;
    for (int64_t i = 0; i < row.width; ++i) {
      d_x[i] = (row.d_out[i] * row.weight[i] - level - unit(i) * along) * unit.scale;
      if (d_weight) d_weight[i] += row.d_out[i] * unit(i);
      if (d_bias) d_bias[i] += row.d_out[i];
    }
  }

 private:
  template <class N>
  struct Unit {
    explicit Unit(const NormRow<N>& row) : x(row.x) {
      const N n = static_cast<Real<N>>(row.width);
      for (int64_t i = 0; i < row.width; ++i) mean += x[i];
      mean = mean / n;
      N squares{};
      for (int64_t i = 0; i < row.width; ++i) squares += (x[i] - mean) * (x[i] - mean);
      scale = N(Real<N>{1}) / Sqrt(squares / n + N(static_cast<Real<N>>(row.eps)));
    }
    N operator()(int64_t i) const { return (x[i] - mean) * scale; }

    const N* x;
    N mean{}, scale{};
  };
};

template <class N>
N SumOfSquares(const NormRow<N>& row) {
  N sum{};
  for (int64_t i = 0; i < row.width; ++i) sum += row.x[i] * row.x[i];
  return sum;
}

struct RmsNormFormula {
  template <class N>
  static void Forward(const NormRow<N>& row, N* out) {
    const N scale = Scale(row);
    for (int64_t i = 0; i < row.width; ++i) out[i] = row.x[i] * scale * row.weight[i];
  }

  template <class N>
  static void Backward(const NormRow<N>& row, N* d_x, N* d_weight, N*) {
    const N scale = Scale(row);
    N along{};
    for (int64_t i = 0; i < row.width; ++i) along += row.d_out[i] * row.weight[i] * (row.x[i] * scale);
    along = along / N(static_cast<Real<N>>(row.width));
    for (int64_t i = 0; i < row.width; ++i) {
      const N unit = row.x[i] * scale;
      d_x[i] = (row.d_out[i] * row.weight[i] - unit * along) * scale;
      if (d_weight) d_weight[i] += row.d_out[i] * unit;
    }
  }

 private:
  template <class N>
  static N Scale(const NormRow<N>& row) {
    const N mean = SumOfSquares(row) / N(static_cast<Real<N>>(row.width));
    return N(Real<N>{1}) / Sqrt(mean + N(static_cast<Real<N>>(row.eps)));
  }
};

// Below eps the divisor is a constant; above, the part of d_out along x does not change the result.
struct L2NormalizeFormula {
  template <class N>
  static void Forward(const NormRow<N>& row, N* out) {
    const N divisor = Divisor(row).value;
    for (int64_t i = 0; i < row.width; ++i) out[i] = row.x[i] / divisor;
  }

  template <class N>
  static void Backward(const NormRow<N>& row, N* d_x, N*, N*) {
    const auto [divisor, is_constant] = Divisor(row);
    N along{};
    for (int64_t i = 0; i < row.width && !is_constant; ++i) along += row.d_out[i] * (row.x[i] / divisor);
    for (int64_t i = 0; i < row.width; ++i) {
      d_x[i] = is_constant ? row.d_out[i] / divisor : (row.d_out[i] - row.x[i] / divisor * along) / divisor;
    }
  }

 private:
  template <class N>
  struct Length {
    N value;
    bool is_eps;
  };
  template <class N>
  static Length<N> Divisor(const NormRow<N>& row) {
    const N length = Sqrt(SumOfSquares(row)), eps = static_cast<Real<N>>(row.eps);
    if (length < eps) return {eps, true};
    return {length, false};
  }
};

}  // namespace kk
