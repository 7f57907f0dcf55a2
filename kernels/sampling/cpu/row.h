// A row of logits, and the largest of them.
#pragma once

#include <cmath>
#include <functional>
#include <vector>

#include "common/cpu/ops.h"
#include "sampling.h"

namespace kk {

template <class F>
void DispatchLogits(kp::DType dtype, F f) {
  kp::dispatch<float, kp::half, kp::bfloat16>(
      dtype, [&](auto t) { f(Tag<typename Storage<typename decltype(t)::type>::Type>()); });
}

// A row cut into blocks, and their maxima: most are then passed over.
template <class Level, class T>
class Row {
 public:
  Row(const T* x, int64_t count)
      : x_(x), count_(count), maxima_(static_cast<size_t>((count + kLogitBlock - 1) / kLogitBlock)) {
    BlockMaxima<Level, T>(x, count, maxima_.data());
  }

  float Largest() const { return *std::max_element(maxima_.begin(), maxima_.end()); }
  const std::vector<float>& maxima() const { return maxima_; }

  // f(index, value) for those that are at least `least`, or NaN, in order, until it returns true.
  template <class F>
  void ForAtLeast(float least, F f) const {
    for (size_t b = 0; b < maxima_.size(); ++b) {
      if (!(maxima_[b] >= least)) continue;
      const int64_t begin = static_cast<int64_t>(b) * kLogitBlock;
      int32_t places[kLogitBlock];
      float values[kLogitBlock];
      const int64_t found = AtLeast<Level, T>(x_ + begin, std::min(kLogitBlock, count_ - begin), least, places, values);
      for (int64_t i = 0; i < found; ++i) {
        if (f(begin + places[i], values[i])) return;
      }
    }
  }

  // The first NaN; without one the first of the largest.
  int32_t First() const {
    const float largest = Largest();
    int64_t first = -1;
    ForAtLeast(largest, [&](int64_t i, float value) {
      if (first < 0 || std::isnan(value)) first = i;
      return std::isnan(value) || largest < INFINITY;
    });
    return static_cast<int32_t>(first);
  }

 private:
  const T* x_;
  int64_t count_;
  std::vector<float> maxima_;
};

struct Candidate {
  float value;
  int32_t index;
};
// NaNs first, then larger ones; of equal ones the one that comes first.
inline bool Before(const Candidate& a, const Candidate& b) {
  const bool a_nan = std::isnan(a.value), b_nan = std::isnan(b.value);
  if (a_nan || b_nan) return a_nan && b_nan ? a.index < b.index : a_nan;
  return a.value != b.value ? a.value > b.value : a.index < b.index;
}

// The `wanted` largest of a row, in order, of those that are at least `least`; fewer where there are no more.
template <class Level, class T>
std::vector<Candidate> Largest(const Row<Level, T>& row, int64_t wanted, float least) {
  std::vector<float> maxima = row.maxima();
  if (wanted < static_cast<int64_t>(maxima.size())) {
    // So many blocks hold a value that large: no value below it is wanted.
    std::nth_element(maxima.begin(), maxima.begin() + (wanted - 1), maxima.end(), std::greater<float>());
    least = std::max(least, maxima[static_cast<size_t>(wanted - 1)]);
  }
  std::vector<Candidate> found;
  row.ForAtLeast(least, [&](int64_t i, float value) {
    found.push_back({value, static_cast<int32_t>(i)});
    return false;
  });
  const auto end = found.begin() + std::min(wanted, static_cast<int64_t>(found.size()));
  std::partial_sort(found.begin(), end, found.end(), Before);
  found.erase(end, found.end());
  return found;
}

}  // namespace kk
