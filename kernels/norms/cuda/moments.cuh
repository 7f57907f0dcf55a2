// Mean and deviation of a row. Sums are f32, of f64 rows f64; where one overflows or vanishes, it is formed again in f64, of the row
// divided by a power of two near its largest element.
#pragma once

#include "common/cuda/block.cuh"

namespace kk_cuda {

// The factor that makes the squares of a row ordinary numbers. With eps, whose share grows by the factor's square, small rows
// stay small beside it.
__device__ inline double FactorFor(double largest, double eps) {
  if (largest == 0 || !isfinite(largest)) return 1;
  return scalbn(1.0, min(eps > 0 ? 500 : 1000, -ilogb(largest)));
}

template <class S>
struct Moments {
  S mean,
      rest;  // the mean is their sum: of a row far from zero, what its rounding leaves over is many units of the result
  bool wide;  // of the row times `factor`, whose mean is `center`
  double center, factor, scale;  // scale: the inverse of the deviation

  // An element of the row, less its mean, over the deviation.
  __device__ S Unit(S x) const {
    return wide ? static_cast<S>((static_cast<double>(x) * factor - center) * scale)
                : ((x - mean) - rest) * static_cast<S>(scale);
  }
  // The slope by an element: beyond S if the row is small.
  __device__ double Slope() const { return factor * scale; }
};

// Of the row divided by a power of two near its largest element, in f64. Row: the threads that share it.
template <bool kLayer, class Row, class S, class Get>
__device__ __noinline__ Moments<S> ComputeWideMoments(int width, double per_element, double eps, Get get) {
  Moments<S> m{};
  const auto sum = [&](const auto& of) {
    double total = 0;
    for (int i = Row::Rank(); i < width; i += Row::kThreads) total += of(i);
    return Row::Sum(total) * per_element;
  };
  double largest = 0;
  for (int i = Row::Rank(); i < width; i += Row::kThreads) largest = fmax(largest, fabs(static_cast<double>(get(i))));
  m.wide = true;
  m.factor = FactorFor(Row::Max(largest), eps);
  const auto scaled = [&](int i) { return static_cast<double>(get(i)) * m.factor; };
  if (kLayer) m.center = sum(scaled);
  const double square = sum([&](int i) { return (scaled(i) - m.center) * (scaled(i) - m.center); });
  m.scale = rsqrt(square + eps * m.factor * m.factor);
  return m;
}

// get(i): element i of the row, an S. per_element: 1 / width. Without kLayer the mean counts as 0.
template <bool kLayer, class S, class Get>
__device__ inline Moments<S> ComputeMoments(int width, double per_element, double eps, Get get) {
  Moments<S> m{};
  // Of f64 a division is a call, around which registers would be spilled.
  const auto mean = [&](auto sum) {
    return sizeof(S) == 8 ? sum * static_cast<decltype(sum)>(per_element) : sum / width;
  };
  if (kLayer) {
    m.mean = mean(RowSum<S>(width, get));
    m.rest = mean(RowSum<S>(width, [&](int i) { return get(i) - m.mean; }));
  }
  const auto square_of = [](auto x) { return x * x; };
  const S square = mean(RowSum<S>(width, [&](int i) { return square_of(get(i) - m.mean); })) - m.rest * m.rest;
  m.wide = square == 0 || !IsModerate(square);
  if (m.wide) return ComputeWideMoments<kLayer, Team<kRowThreads>, S>(width, per_element, eps, get);
  m.factor = 1, m.scale = rsqrt(static_cast<double>(square) + eps);
  return m;
}

}  // namespace kk_cuda
