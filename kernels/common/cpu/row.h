// Walking one row: element-wise steps, sums and maxima.
#pragma once

#include <type_traits>

#include "pack.h"

namespace kk {
namespace {

// step(i, extent) for each vector of a row of n values.
template <class T, class Step>
inline void ForRow(int64_t n, Step step) {
  constexpr int64_t lanes = Pack<T>::kLanes;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) step(i, Whole{});
  if (i < n) step(i, Part{static_cast<int>(n - i)});
}

constexpr int kTogether = 4;  // vectors of ForVectors' whole steps

// step(i, count, extent): `count` vectors of a row from i on, kTogether at a time where there are so many. For tensors whose rows lie apart:
// lines of the cache are then read whole.
template <class T, class Step>
inline void ForVectors(int64_t n, Step step) {
  constexpr int64_t lanes = Pack<T>::kLanes;
  int64_t i = 0;
  for (; i + kTogether * lanes <= n; i += kTogether * lanes) {
    step(i, std::integral_constant<int, kTogether>(), Whole{});
  }
  for (; i + lanes <= n; i += lanes) step(i, std::integral_constant<int, 1>(), Whole{});
  if (i < n) step(i, std::integral_constant<int, 1>(), Part{static_cast<int>(n - i)});
}

template <int kCount>
struct Sums {
  double value[kCount];
};

// add(i, extent, sums) adds the i-th vector's terms to `sums`, an array of kCount vectors.
//
// Four chains of vectors run side by side and are folded into doubles every kBlock elements, so that the error of a sum
// does not grow with the row.
template <int kCount, class T, class Add>
inline Sums<kCount> RowSums(int64_t n, Add add) {
  using P = Pack<T>;
  constexpr int64_t lanes = P::kLanes;
  constexpr int64_t kBlock = 4096;
  Sums<kCount> total = {};
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = n - begin < kBlock ? n : begin + kBlock;
    typename P::V a[kCount] = {}, b[kCount] = {}, c[kCount] = {}, d[kCount] = {};
    int64_t i = begin;
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      add(i, Whole{}, a);
      add(i + lanes, Whole{}, b);
      add(i + 2 * lanes, Whole{}, c);
      add(i + 3 * lanes, Whole{}, d);
    }
    for (; i + lanes <= end; i += lanes) add(i, Whole{}, a);
    if (i < end) add(i, Part{static_cast<int>(end - i)}, b);
    for (int k = 0; k < kCount; ++k) {
      total.value[k] += HorizontalSum((a[k] + b[k]) + (c[k] + d[k]));
    }
  }
  return total;
}

template <class T, class Term>
inline double RowSum(int64_t n, Term term) {
  return RowSums<1, T>(n, [&](int64_t i, auto extent, auto* sums) { sums[0] += term(i, extent); }).value[0];
}

// The largest of term(i, extent); -inf for an empty row. NaNs are passed over.
template <class T, class Term>
inline typename Pack<T>::S RowMax(int64_t n, Term term) {
  using P = Pack<T>;
  constexpr int64_t lanes = P::kLanes;
  const typename P::V least = Splat(-static_cast<typename P::S>(__builtin_inf()));
  typename P::V a = least, b = least, c = least, d = least;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = Max(term(i, Whole{}), a);
    b = Max(term(i + lanes, Whole{}), b);
    c = Max(term(i + 2 * lanes, Whole{}), c);
    d = Max(term(i + 3 * lanes, Whole{}), d);
  }
  for (; i + lanes <= n; i += lanes) a = Max(term(i, Whole{}), a);
  if (i < n) b = Max(term(i, Part{static_cast<int>(n - i)}), b);
  return HorizontalMax(Max(Max(a, b), Max(c, d)));
}

}  // namespace
}  // namespace kk
