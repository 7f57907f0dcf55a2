// Weights of any dtype beside x, and their gradients: sums over all rows of a tensor.
#pragma once

#include <numeric>
#include <vector>

#include "common/cpu/values.h"
#include "common/cpu/ops.h"

namespace kk {

// A weight as S: as it lies where it is that, else converted.
template <class Level, class S>
class WeightAs {
 public:
  explicit WeightAs(const std::optional<kp::TensorView>& weight) {
    if (!weight) return;
    DispatchFloat(weight->dtype(), [&](auto tag) {
      using W = typename decltype(tag)::Type;
      if constexpr (std::is_same_v<W, S>) {
        data_ = Data<W>(*weight);
      } else {
        const int64_t count = weight->numel();
        copy_.resize(static_cast<size_t>(count));
        if constexpr (std::is_same_v<S, float> && !std::is_same_v<W, double>) {
          ToFloats<Level>(Data<W>(*weight), count, copy_.data());
        } else {
          for (int64_t i = 0; i < count; ++i) copy_[static_cast<size_t>(i)] = static_cast<S>(Load(Data<W>(*weight)[i]));
        }
        data_ = copy_.data();
      }
    });
  }

  const S* data() const { return data_; }  // null where there is none

 private:
  const S* data_ = nullptr;
  std::vector<S> copy_;
};

// The sum of rows of S, `width` long, in the order of `rows`, written in out's own dtype.
template <class Level, class S>
void WriteSum(const S* from, const std::vector<int64_t>& rows, int64_t width, kp::MutTensorView out) {
  const auto count = static_cast<int64_t>(rows.size());
  DispatchFloat(out.dtype(), [&](auto tag) {
    using W = typename decltype(tag)::Type;
    if constexpr (std::is_same_v<ComputeType<W>, S>) {
      SumRows<Level, S, W>(from, rows.data(), count, 1.0, Data<W>(out), width);
    } else {
      std::vector<S> total(static_cast<size_t>(width));
      SumRows<Level, S, S>(from, rows.data(), count, 1.0, total.data(), width);
      for (int64_t i = 0; i < width; ++i) Store(total[static_cast<size_t>(i)], Data<W>(out) + i);
    }
  });
}

// Rows are cut into parts whose number depends on the shape only, so that the sums are the same on any number of threads.
// add(begin, end, sums) adds rows [begin, end) to `sums`: kCount arrays of `width` items, one after the other.
// outs[k] gets the k-th sum, in its own dtype.
template <class Level, class S, int kCount, class Add>
void SumOverRows(int64_t rows, int64_t width, kp::MutTensorView const (&outs)[kCount], Add add) {
  const int64_t parts = std::clamp<int64_t>(rows * width / kElementsPerThread, 1, 16);
  std::vector<S> sums(static_cast<size_t>(parts * kCount * width));
  kp::parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      add(rows * p / parts, rows * (p + 1) / parts, sums.data() + p * kCount * width);
    }
  });
  std::vector<int64_t> chosen(static_cast<size_t>(parts));
  for (int k = 0; k < kCount; ++k) {
    for (int64_t p = 0; p < parts; ++p) chosen[p] = p * kCount + k;
    WriteSum<Level>(sums.data(), chosen, width, outs[k]);
  }
}

}  // namespace kk
