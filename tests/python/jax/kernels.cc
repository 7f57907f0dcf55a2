// Kernels for the JAX tests: each shows one feature of a signature.
#include <kernpack/kernel.h>

#include <cmath>
#include <cstring>

namespace kp = kernpack;

#ifndef FACTOR
#define FACTOR 1
#endif

static void Axpb(kp::TensorView x, int64_t a, double b, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    out.data_ptr<float>()[i] = FACTOR * (x.data_ptr<float>()[i] * static_cast<float>(a) + static_cast<float>(b));
  }
}

static void Copy(kp::TensorView x, kp::MutTensorView out) {
  const int64_t bits = x.numel() * x.dtype().bits;
  std::memcpy(out.data_ptr(), x.data_ptr(), static_cast<size_t>((bits + 7) / 8));
}

static void TwoResults(kp::TensorView x, kp::MutTensorView positive, kp::MutTensorView count) {
  int32_t n = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float v = x.data_ptr<float>()[i];
    positive.data_ptr<float>()[i] = v > 0 ? v : 0;
    n += v > 0;
  }
  count.data_ptr<int32_t>()[0] = n;
}

static void AddBias(kp::TensorView x, std::optional<kp::TensorView> bias, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    out.data_ptr<float>()[i] = x.data_ptr<float>()[i] + (bias ? bias->data_ptr<float>()[i] : 100.0f);
  }
}

// Lists come as ARRAY values, borrowed for the call.
static void WeightedSum(kp::ListView<kp::TensorView> xs, kp::ListView<double> weights, int64_t n,
                        kp::MutTensorView out) {
  for (int64_t i = 0; i < n; ++i) out.data_ptr<float>()[i] = 0;
  for (size_t j = 0; j < xs.size(); ++j) {
    const auto x = xs[j];
    const auto w = weights[j];
    for (int64_t i = 0; i < n; ++i) out.data_ptr<float>()[i] += static_cast<float>(w) * x.data_ptr<float>()[i];
  }
}

static void Fill(kp::TensorView, int64_t n, kp::DType type, bool one, kp::StringView how, kp::MutTensorView out) {
  if (how.size() != 4) KP_THROW(InternalError) << "fill: how: was not checked";
  std::memset(out.data_ptr(), one ? 1 : 0, static_cast<size_t>(n * type.bits / 8));
}

static void Accumulate(kp::MutTensorView cache, kp::TensorView x) {
  for (int64_t i = 0; i < x.numel(); ++i) cache.data_ptr<float>()[i] += x.data_ptr<float>()[i];
}

static void Scratch(kp::TensorView x, kp::MutTensorView out, kp::MutTensorView workspace) {
  std::memcpy(workspace.data_ptr(), x.data_ptr(), static_cast<size_t>(x.numel()) * 4);
  std::memcpy(out.data_ptr(), workspace.data_ptr(), static_cast<size_t>(x.numel()) * 4);
}

static void Positive(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    if (x.data_ptr<float>()[i] < 0) KP_THROW(ValueError) << "positive: x: expected no negative item, got one at " << i;
  }
  Copy(x, out);
}

static void First(kp::TensorView, kp::TensorView by, kp::MutTensorView out) { Copy(by, out); }
static void Second(kp::TensorView, kp::TensorView n, kp::MutTensorView out) { Copy(n, out); }

static void Watched(kp::TensorView) {}

static void Widened(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = x.data_ptr<kp::half>()[i];
}
static void Halved(kp::TensorView x, kp::MutTensorView out) {
  kp::parallel_for(x.numel(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out.data_ptr<float>()[i] = x.data_ptr<float>()[i] * 0.5f;
  });
}

KP_MODULE("jax_kernels", "1.0.0");
KP_EXPORT(axpb, Axpb, "(x: f32[...], *, a: int = 2, b: float = 0.5) -> (out: f32[...])");
KP_EXPORT(copy, Copy, "(x: T[...]) -> (out: T[...]) where T in any");
KP_EXPORT(two_results, TwoResults, "(x: f32[N]) -> (positive: f32[N], count: i32[])");
KP_EXPORT(add_bias, AddBias, "(x: f32[N], bias: f32[N]? = None) -> (out: f32[N])");
KP_EXPORT(weighted_sum, WeightedSum, "(xs: list[f32[N]], weights: list[float], *, n: int) -> (out: f32[n])");
KP_EXPORT(fill, Fill, "(x: f32[N], *, n: int, to: dtype, one: bool, how: str in {\"slow\", \"fast\"}) -> (out: to[n])");
KP_EXPORT(accumulate, Accumulate, "(cache!: f32[N], x: f32[N]) -> ()");
KP_EXPORT(scratch, Scratch, "(x: f32[N]) -> (out: f32[N]) with workspace = N * 4");
KP_EXPORT(positive, Positive, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(shifted, First, "(x: T[N], by: T[]) -> (out: T[]) where T in {f32, bf16}");
KP_EXPORT(counted, Second, "(x: T[N], n: i32[]) -> (out: i32[]) where T in {f32, bf16}");
KP_EXPORT(widened, Widened, "(x: f16[N]) -> (out: f32[N])");
KP_EXPORT(halved, Halved, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(watched, Watched, "(x: f32[N]) -> ()");
KP_EXPORT(untyped, Copy);
