// The gradient of attention.
#include "backward_run.h"
#include "call.h"
#include "attention/contract.h"

namespace kk {
namespace {

template <class Level>
void AttentionBackward(kp::TensorView d_context, kp::TensorView q, kp::TensorView k, kp::TensorView v,
                       kp::TensorView context, kp::TensorView lse, std::optional<kp::TensorView> lengths,
                       std::optional<double> scale, bool causal, int64_t window, double soft_cap, kp::MutTensorView d_q,
                       kp::MutTensorView d_k, kp::MutTensorView d_v) {
  const AttentionOptions options = {lengths, scale, causal, window, soft_cap};
  CheckAttention(options, k);
  const CompactRows rows_q(q), rows_k(k), rows_v(v);
  if (q.numel() == 0 || k.numel() == 0) return Zeros(q, d_q), Zeros(k, d_k), Zeros(v, d_v);
  DispatchAttention(q, k, v, options, [&](auto args) {
    using T = std::decay_t<decltype(*args.q)>;
    RunAttentionGradient<typename Bf16Level<Level, T>::Type, T>(
        {args, Data<T>(d_context), Data<T>(context), Data<float>(lse), Data<T>(d_q)}, Data<T>(d_k), Data<T>(d_v));
  });
}

}  // namespace
}  // namespace kk

KK_EXPORT_BF16(attention_backward, kk::AttentionBackward, KK_ATTENTION_BACKWARD_CONTRACT);
KP_GRAD(attention, attention_backward);
