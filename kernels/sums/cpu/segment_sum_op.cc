// segment_sum. It is linear in x: tangents and second order are the op and its gradient again.
#include <numeric>
#include <vector>

#include "common/cpu/segments.h"

namespace kk {
namespace {

template <class Level>
void Sum(kp::TensorView x, kp::TensorView offsets, kp::MutTensorView out) {
  const std::vector<int64_t> bounds = Bounds(offsets, x.size(0));
  std::vector<int64_t> rows(static_cast<size_t>(x.size(0)));
  std::iota(rows.begin(), rows.end(), 0);
  const int64_t width = LastDim(x), segments = offsets.numel();
  const int64_t each = segments == 0 ? 0 : (x.size(0) + segments - 1) / segments;
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForRows(segments, width * std::max<int64_t>(each, 1), [&](int64_t begin, int64_t end) {
      for (int64_t s = begin; s < end; ++s) {
        SumRows<Level, T, T>(Data<T>(x), rows.data() + bounds[s], bounds[s + 1] - bounds[s], 1.0,
                             Data<T>(out) + s * width, width);
      }
    });
  });
}

// Each segment's row, to all rows of the segment.
void Spread(kp::TensorView from, kp::TensorView offsets, kp::MutTensorView out) {
  const std::vector<int64_t> bounds = Bounds(offsets, out.size(0));
  const auto row_bytes = static_cast<size_t>(out.size(1) * out.itemsize());
  if (row_bytes == 0) return;
  for (size_t s = 0; s + 1 < bounds.size(); ++s) {
    for (int64_t row = bounds[s]; row < bounds[s + 1]; ++row) {
      std::memcpy(Data<char>(out) + static_cast<size_t>(row) * row_bytes, Data<char>(from) + s * row_bytes, row_bytes);
    }
  }
}

void SegmentSumBackward(kp::TensorView d_out, kp::TensorView, kp::TensorView offsets, kp::MutTensorView d_x) {
  Spread(d_out, offsets, d_x);
}

void SegmentSumBackwardJvp(kp::TensorView t_d_out, std::optional<kp::TensorView>, kp::TensorView,
                           kp::TensorView offsets, kp::MutTensorView t_d_x) {
  Spread(t_d_out, offsets, t_d_x);
}

}  // namespace
}  // namespace kk

#define KK_WHERE "where T in {f32, f64, f16, bf16}, I in {i32, i64}, S > 0 with deterministic, independent(D)"

KP_DOC(
    segment_sum,
    "The sum of the rows of each segment: segment i begins at row offsets[i] and ends where the next one begins, the "
    "last one at the end of x. An empty segment gives zeros.");
KK_EXPORT(segment_sum, kk::Sum, "(x: T[N, D], offsets: I[S]) -> (out: T[S, D]) " KK_WHERE);
KK_EXPORT(segment_sum_jvp, kk::Sum, "(t_x: T[N, D], offsets: I[S]) -> (t_out: T[S, D]) " KK_WHERE);
KP_JVP(segment_sum, segment_sum_jvp);
KP_EXPORT(segment_sum_backward, kk::SegmentSumBackward,
          "(d_out: T[S, D], x: T[N, D], offsets: I[S]) -> (d_x: T[N, D]) " KK_WHERE);
KP_GRAD(segment_sum, segment_sum_backward);
KK_EXPORT(segment_sum_backward_backward, kk::Sum, "(d_d_x: T[N, D], offsets: I[S]) -> (d_d_out: T[S, D]) " KK_WHERE);
KP_GRAD(segment_sum_backward, segment_sum_backward_backward);
KP_EXPORT(segment_sum_backward_jvp, kk::SegmentSumBackwardJvp,
          "(t_d_out: T[S, D], t_x: T[N, D]?, x: T[N, D], offsets: I[S]) -> (t_d_x: T[N, D]) " KK_WHERE);
KP_JVP(segment_sum_backward, segment_sum_backward_jvp);

// It asks for the shape of x only, so that its gradient there is zero.
KP_EXPORT(segment_sum_backward_zero, kk::Zeros,
          "(x: T[N, D]) -> (d_x: T[N, D]) where T in {f32, f64, f16, bf16} with deterministic, independent(D)");
KP_GRAD(segment_sum_backward, segment_sum_backward_zero);
