// Ops without a mistake, of every shape that contracts have: nothing may be found in them.
#include <kernpack/kernel.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

namespace kp = kernpack;
namespace {

const float* In(kp::TensorView x) { return x.data_ptr<float>(); }
float* Out(kp::MutTensorView x) { return x.data_ptr<float>(); }

void Topk(kp::TensorView x, int64_t k, kp::MutTensorView values, kp::MutTensorView indices) {
  const int64_t width = x.size(-1), rows = values.numel() / k;
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = In(x) + row * width;
    std::vector<int32_t> order(width);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return std::isnan(from[b]) ? false : std::isnan(from[a]) || from[a] > from[b];
    });
    for (int64_t i = 0; i < k; ++i) {
      Out(values)[row * k + i] = from[order[i]];
      indices.data_ptr<int32_t>()[row * k + i] = order[i];
    }
  }
}

// Each group of a row by its largest magnitude.
void Quantize(kp::TensorView x, int64_t group, kp::MutTensorView q, kp::MutTensorView scale) {
  for (int64_t i = 0; i < scale.numel(); ++i) {
    const float* from = In(x) + i * group;
    float most = 1e-6F;
    for (int64_t j = 0; j < group; ++j) most = std::max(most, std::isfinite(from[j]) ? std::abs(from[j]) : 0);
    Out(scale)[i] = most / 127;
    for (int64_t j = 0; j < group; ++j) {
      const float value = std::isfinite(from[j]) ? from[j] * 127 / most : 0;
      q.data_ptr<int8_t>()[i * group + j] = static_cast<int8_t>(std::lrint(std::min(127.0F, std::max(-127.0F, value))));
    }
  }
}

void Append(kp::MutTensorView cache, kp::TensorView key, kp::TensorView slot) {
  const int64_t width = cache.size(-1);
  for (int64_t i = 0; i < slot.numel(); ++i) {
    const int64_t at = slot.data_ptr<int64_t>()[i];
    KP_CHECK(at >= 0 && at < cache.size(0), IndexError) << "append: slot: expected 0 to rows - 1, got " << at;
    std::copy_n(In(key) + i * width, width, Out(cache) + at * width);
  }
}

// Sums of neighbouring rows, whose offsets rise from 0 to the whole.
void SegmentSum(kp::TensorView x, kp::TensorView offsets, kp::MutTensorView out) {
  const int64_t width = x.size(-1), segments = offsets.numel() - 1;
  const int64_t* at = offsets.data_ptr<int64_t>();
  KP_CHECK(at[0] == 0 && at[segments] == x.size(0), ValueError) << "segment_sum: offsets: expected 0 to the rows of x";
  for (int64_t i = 0; i < segments; ++i) {
    KP_CHECK(at[i] <= at[i + 1], ValueError) << "segment_sum: offsets: expected them to rise";
    for (int64_t j = 0; j < width; ++j) {
      double sum = 0;
      for (int64_t row = at[i]; row < at[i + 1]; ++row) sum += In(x)[row * width + j];
      Out(out)[i * width + j] = static_cast<float>(sum);
    }
  }
}

void Concat(kp::ListView<kp::TensorView> xs, int64_t rows, kp::MutTensorView out) {
  double* to = out.data_ptr<double>();
  int64_t found = 0;
  for (size_t i = 0; i < xs.size(); ++i) found += xs[i].size(0);
  KP_CHECK(found == rows, ValueError) << "concat: rows: expected " << found << ", got " << rows;
  for (size_t i = 0; i < xs.size(); ++i) to = std::copy_n(xs[i].data_ptr<double>(), xs[i].numel(), to);
}

void ConcatBackward(kp::TensorView d_out, kp::ListView<kp::TensorView> xs, kp::TensorView, int64_t index,
                    kp::MutTensorView d_xs) {
  int64_t before = 0;
  for (int64_t i = 0; i < index; ++i) before += xs[i].numel();
  std::copy_n(d_out.data_ptr<double>() + before, d_xs.numel(), d_xs.data_ptr<double>());
}

void Gather(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.size(0); ++i) {
    for (int64_t j = 0; j < x.size(1); ++j) Out(out)[i * x.size(1) + j] = x.at<float>(i, j) + 1;
  }
}

void AddTo(kp::MutTensorView x, kp::TensorView y, double by) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(x)[i] += static_cast<float>(by) * In(y)[i];
}

void Cast(kp::TensorView x, kp::DType, kp::MutTensorView out) {
  kp::dispatch<float, double, kp::half, int32_t>(out.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    for (int64_t i = 0; i < x.numel(); ++i) {
      const float value = In(x)[i];
      const bool fits = std::isfinite(value) || !std::is_same_v<T, int32_t>;
      out.data_ptr<T>()[i] = fits ? static_cast<T>(value) : T(0);
    }
  });
}

void Magnitude(kp::TensorView x, kp::MutTensorView out) {
  kp::dispatch<float, double>(out.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    const T* from = static_cast<const T*>(x.data_ptr());
    for (int64_t i = 0; i < out.numel(); ++i) out.data_ptr<T>()[i] = std::hypot(from[2 * i], from[2 * i + 1]);
  });
}

// An op that may look as if it treated elements alike, and does not.
void CumulativeSum(kp::TensorView x, std::optional<kp::TensorView> start, double decay, kp::MutTensorView out,
                   kp::MutTensorView workspace) {
  const int64_t width = x.size(-1), rows = width == 0 ? 0 : x.numel() / width;
  double* sums = static_cast<double*>(workspace.data_ptr());
  for (int64_t row = 0; row < rows; ++row) {
    double sum = start ? In(*start)[0] : 0;
    for (int64_t i = 0; i < width; ++i) sums[i] = sum = sum * decay + In(x)[row * width + i];
    for (int64_t i = 0; i < width; ++i) Out(out)[row * width + i] = static_cast<float>(sums[i]);
  }
}

void PoolPairs(kp::TensorView x, kp::StringView mode, kp::MutTensorView out) {
  const bool largest = mode == "max";
  for (int64_t i = 0; i < out.numel(); ++i) {
    const float a = In(x)[2 * i], b = In(x)[2 * i + 1];
    Out(out)[i] = largest ? (std::isnan(a) || a > b ? a : b) : (a + b) / 2;
  }
}

float Relu(float x) { return x > 0 || std::isnan(x) ? x : 0; }

// Without an offset, scale does nothing.
void PlusScaled(kp::TensorView x, double scale, double offset, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = static_cast<float>(In(x)[i] + scale * offset);
}

// NaN for half of the calls that are made without thinking of it.
void Root(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = std::sqrt(In(x)[i]);
}

void ReluOp(kp::TensorView x, kp::MutTensorView out) {
  kp::parallel_for(x.numel(), 512, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) Out(out)[i] = Relu(In(x)[i]);
  });
}

void ReluBackward(kp::TensorView d_out, kp::TensorView out, kp::MutTensorView d_x) {
  for (int64_t i = 0; i < out.numel(); ++i) Out(d_x)[i] = In(out)[i] > 0 ? In(d_out)[i] : 0;
}

void NegateItems(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = -In(x)[i];
}

}  // namespace

KP_MODULE("fine_cases", "1.0.0");
KP_EXPORT(topk, Topk, "(x: f32[..., N], *, k: int) -> (values: f32[..., k], indices: i32[..., k]) where 0 < k <= N");
KP_EXPORT(quantize, Quantize,
          "(x: f32[N, D], *, group: int = 32) -> (q: i8[N, D], scale: f32[N, D // group]) where group > 0, "
          "D % group == 0 with deterministic");
KP_EXPORT(append, Append, "(cache!: f32[R, D], key: f32[B, D], slot: i64[B]) -> ()");
KP_EXPORT(segment_sum, SegmentSum,
          "(x: f32[N, D], offsets: i64[S]) -> (out: f32[S - 1, D]) where S > 0 with invariant(D)");
KP_EXPORT(concat, Concat, "(xs: list[f64[_, D]], rows: int) -> (out: f64[rows, D])");
KP_EXPORT(concat_backward, ConcatBackward,
          "(d_out: f64[R, D], xs: list[f64[_, D]], xs_item: f64[N, D], xs_index: int) -> (d_xs: f64[N, D])");
KP_GRAD(concat, concat_backward);
KP_EXPORT(gather, Gather,
          "(x: f32[N, D] strided) -> (out: f32[N, D]) with deterministic, independent(D), "
          "invariant(N)");
KP_EXPORT(add_to, AddTo, "(x!: f32[*S], y: f32[*S], *, by: float = 1.5) -> ()");
KP_EXPORT(negate_items, NegateItems, "(x: f32[N, C, *S]) -> (out: f32[N, C, *S]) with invariant(N, C)");
KP_EXPORT(cast, Cast, "(x: f32[...], *, to: dtype = f16) -> (out: to[...])");
KP_EXPORT(magnitude, Magnitude, "(x: T[...]) -> (out: real(T)[...]) where T in {c64, c128}");
KP_EXPORT(cumulative_sum, CumulativeSum,
          "(x: f32[..., N], start: f32[]? = None, *, decay: float = 1.0) -> (out: f32[..., N]) with workspace = 8 * N");
KP_EXPORT(pool_pairs, PoolPairs,
          "(x: f32[..., D], *, mode: str in {'max', 'mean'} = 'max') -> (out: f32[..., D // 2]) where D % 2 == 0 "
          "with invariant(batch)");
KP_EXPORT(plus_scaled, PlusScaled,
          "(x: f32[...], *, scale: float = 1.0, offset: float = 0.0) -> (out: f32[...]) with deterministic");
KP_EXPORT(root, Root, "(x: f32[...]) -> (out: f32[...]) with deterministic");
KP_EXPORT(relu, ReluOp, "(x: f32[...]) -> (y: f32[...]) with deterministic");
KP_EXPORT(relu_backward, ReluBackward, "(d_y: f32[...], y: f32[...]) -> (d_x: f32[...]) with deterministic");
KP_GRAD(relu, relu_backward);
