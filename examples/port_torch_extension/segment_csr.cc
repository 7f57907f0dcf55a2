// Sums, means, minima and maxima of segments of rows: segment i is the rows from indptr[i] to indptr[i + 1].
#include <kernpack/kernel.h>

#include <cstring>

namespace kp = kernpack;

namespace {

// The number of elements after a row number in memory.
int64_t Columns(kp::TensorView rows) {
  int64_t columns = 1;
  for (int32_t d = 1; d < rows.dim(); ++d) columns *= rows.size(d);
  return columns;
}

kp::Span<const int64_t> Checked(kp::TensorView indptr, int64_t rows) {
  const kp::Span<const int64_t> p(indptr);
  for (int64_t i = 0; i < p.size(); ++i) {
    KP_CHECK(p[i] >= (i ? p[i - 1] : 0) && p[i] <= rows, ValueError)
        << "indptr: expected ascending row numbers from 0 to " << rows << ", got " << p[i] << " at " << i;
  }
  return p;
}

// Calls make(type) for the dtype of `rows`, and what that returns with (segment, first row, row behind the last) of each segment.
template <class Make>
void EachSegment(kp::TensorView rows, kp::TensorView indptr, Make make) {
  const kp::Span<const int64_t> p = Checked(indptr, rows.size(0));
  kp::dispatch<float, double>(rows.dtype(), [&](auto type) {
    const auto f = make(type);
    kp::parallel_for(p.size() - 1, 64, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) f(i, p[i], p[i + 1]);
    });
  });
}

template <bool kMean>
void Sum(kp::TensorView src, kp::TensorView indptr, kp::MutTensorView out) {
  const int64_t n = Columns(src);
  EachSegment(src, indptr, [&](auto type) {
    using T = typename decltype(type)::type;
    return [n, in = kp::Span<const T>(src), sums = kp::Span<T>(out)](int64_t i, int64_t first, int64_t last) {
      T* to = sums.data() + i * n;
      std::memset(to, 0, static_cast<size_t>(n) * sizeof(T));
      for (int64_t r = first; r < last; ++r)
        for (int64_t c = 0; c < n; ++c) to[c] += in[r * n + c];
      if (kMean && last > first)
        for (int64_t c = 0; c < n; ++c) to[c] /= static_cast<T>(last - first);
    };
  });
}

// The gradient of a sum or a mean; rows in no segment have none.
template <bool kMean>
void SumBackward(kp::TensorView d_out, kp::TensorView src, kp::TensorView indptr, kp::MutTensorView d_src) {
  const int64_t n = Columns(src);
  std::memset(d_src.data_ptr(), 0, static_cast<size_t>(src.numel()) * static_cast<size_t>(src.dtype().bits / 8));
  EachSegment(src, indptr, [&](auto type) {
    using T = typename decltype(type)::type;
    return [n, from = kp::Span<const T>(d_out), to = kp::Span<T>(d_src)](int64_t i, int64_t first, int64_t last) {
      const T share = T(1) / static_cast<T>(kMean ? last - first : 1);
      for (int64_t r = first; r < last; ++r)
        for (int64_t c = 0; c < n; ++c) to[r * n + c] = from[i * n + c] * share;
    };
  });
}

// The row of each extreme: the number of rows where a segment is empty, whose result is 0.
template <bool kMax>
void Extreme(kp::TensorView src, kp::TensorView indptr, kp::MutTensorView out, kp::MutTensorView arg) {
  const int64_t n = Columns(src);
  const kp::Span<int64_t> rows(arg);
  EachSegment(src, indptr, [&](auto type) {
    using T = typename decltype(type)::type;
    return [=, none = src.size(0), in = kp::Span<const T>(src), to = kp::Span<T>(out)](int64_t i, int64_t first,
                                                                                       int64_t last) {
      for (int64_t c = 0; c < n; ++c) {
        int64_t best = first;
        for (int64_t r = first + 1; r < last; ++r) {
          if (kMax ? in[r * n + c] > in[best * n + c] : in[r * n + c] < in[best * n + c]) best = r;
        }
        to[i * n + c] = last > first ? in[best * n + c] : T(0);
        rows[i * n + c] = last > first ? best : none;
      }
    };
  });
}

void ExtremeBackward(kp::TensorView d_out, kp::TensorView src, kp::TensorView arg, kp::MutTensorView d_src) {
  const int64_t n = Columns(src);
  std::memset(d_src.data_ptr(), 0, static_cast<size_t>(src.numel()) * static_cast<size_t>(src.dtype().bits / 8));
  kp::dispatch<float, double>(src.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    const kp::Span<const int64_t> rows(arg);
    const kp::Span<const T> from(d_out);
    const kp::Span<T> to(d_src);
    const int64_t count = src.size(0);
    for (int64_t k = 0; k < rows.size(); ++k) {
      if (rows[k] >= 0 && rows[k] < count) to[rows[k] * n + k % n] += from[k];
    }
  });
}

}  // namespace

#define SEGMENTS "(src: T[R, *S], indptr: i64[P]) -> (out: T[P - 1, *S]"
#define BACKWARD "(d_out: T[P - 1, *S], src: T[R, *S], indptr: i64[P]) -> (d_src: T[R, *S])"
#define EXTREME_BACKWARD "(d_out: T[Q, *S], src: T[R, *S], arg: i64[Q, *S]) -> (d_src: T[R, *S])"
#define FLOATS " where T in {f32, f64}"

KP_MODULE("segment_csr", "1.0.0");
KP_EXPORT(segment_sum_csr, Sum<false>, SEGMENTS ")" FLOATS ", P > 0");
KP_EXPORT(segment_sum_csr_backward, SumBackward<false>, BACKWARD FLOATS ", P > 0");
KP_GRAD(segment_sum_csr, segment_sum_csr_backward);
KP_EXPORT(segment_mean_csr, Sum<true>, SEGMENTS ")" FLOATS ", P > 0");
KP_EXPORT(segment_mean_csr_backward, SumBackward<true>, BACKWARD FLOATS ", P > 0");
KP_GRAD(segment_mean_csr, segment_mean_csr_backward);
KP_EXPORT(segment_min_csr, Extreme<false>, SEGMENTS ", arg: i64[P - 1, *S])" FLOATS ", P > 0");
KP_EXPORT(segment_min_csr_backward, ExtremeBackward, EXTREME_BACKWARD FLOATS);
KP_GRAD(segment_min_csr, segment_min_csr_backward);
KP_EXPORT(segment_max_csr, Extreme<true>, SEGMENTS ", arg: i64[P - 1, *S])" FLOATS ", P > 0");
KP_EXPORT(segment_max_csr_backward, ExtremeBackward, EXTREME_BACKWARD FLOATS);
KP_GRAD(segment_max_csr, segment_max_csr_backward);
