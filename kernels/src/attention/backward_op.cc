// The gradient of attention.
#include "backward_run.h"
#include "call.h"

namespace kk {
namespace {

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
    RunAttentionGradient<Level, T>({args, Data<T>(d_context), Data<T>(context), Data<float>(lse), Data<T>(d_q)},
                                   Data<T>(d_k), Data<T>(d_v));
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
