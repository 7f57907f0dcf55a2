// The gradient of attention.
#include "backward.h"
#include "call.h"

namespace kk {
namespace {

// Pieces of work at least, where there are as many: few heads then still make work for several threads. They follow from shapes
// alone, and with them the order of sums.
constexpr int64_t kEnoughTasks = 8;

template <class Level, class T>
void Run(const AttentionGradientArgs<T>& args, T* d_k, T* d_v) {
  const AttentionArgs<T>& forward = args.forward;
  const int64_t width = forward.width, padded = PaddedWidth(width), pairs = forward.batch * forward.groups;
  const int64_t parts = std::clamp<int64_t>((kEnoughTasks + pairs - 1) / pairs, 1, args.units());
  const int64_t size = forward.keys * padded;
  float* const sums = FloatScratch("attention gradients", 2 * pairs * parts * size);
  kp::parallel_for(pairs * parts, 1, [&](int64_t begin, int64_t end) {
    float* const memory = FloatScratch("attention gradient", AttentionGradientScratch(width));
    for (int64_t t = begin; t < end; ++t) {
      const int64_t pair = t / parts;
      AttentionGradientRun<Level, T>(args, {pair / forward.groups, pair % forward.groups, t % parts, parts},
                                     sums + 2 * t * size, sums + (2 * t + 1) * size, memory);
    }
  });
  ForRows(pairs * forward.keys, 2 * parts * width, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t pair = r / forward.keys, key = r % forward.keys;
      const float* const row = sums + 2 * pair * parts * size + key * padded;
      const int64_t at =
          ((pair / forward.groups * forward.keys + key) * forward.groups + pair % forward.groups) * width;
      AttentionGradientSum<Level, T>(row, parts, 2 * size, d_k + at, width);
      AttentionGradientSum<Level, T>(row + size, parts, 2 * size, d_v + at, width);
    }
  });
}

template <class Level>
void AttentionBackward(kp::TensorView d_context, kp::TensorView q, kp::TensorView k, kp::TensorView v,
                       kp::TensorView context, kp::TensorView lse, std::optional<kp::TensorView> lengths,
                       std::optional<double> scale, bool causal, int64_t window, double soft_cap, kp::MutTensorView d_q,
                       kp::MutTensorView d_k, kp::MutTensorView d_v) {
  const AttentionOptions options = {lengths, scale, causal, window, soft_cap};
  CheckAttention(options);
  const CompactRows rows_q(q), rows_k(k), rows_v(v);
  if (q.numel() == 0 || k.numel() == 0) return Zeros(q, d_q), Zeros(k, d_k), Zeros(v, d_v);
  DispatchAttention(q, k, v, options, [&](auto args) {
    using T = std::decay_t<decltype(*args.q)>;
    Run<Level, T>({args, Data<T>(d_context), Data<T>(context), Data<float>(lse), Data<T>(d_q)}, Data<T>(d_k),
                  Data<T>(d_v));
  });
}

}  // namespace
}  // namespace kk

KK_EXPORT(attention_backward, kk::AttentionBackward,
          "(d_context: T[B, S, H, D], q: T[B, S, H, D] strided, k: T[B, L, G, D] strided, v: T[B, L, G, D] strided, "
          "context: T[B, S, H, D], lse: f32[B, H, S], lengths: i32[B]?, *, scale: float?, causal: bool, window: int, "
          "soft_cap: float) -> (d_q: T[B, S, H, D], d_k: T[B, L, G, D], d_v: T[B, L, G, D]) "
          "where T in {f32, f16, bf16}, G > 0, H % G == 0, window >= 0 "
          "with deterministic, nondiff(d_context, q, k, v, context, lse)");
KP_GRAD(attention, attention_backward);
