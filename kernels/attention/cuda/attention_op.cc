// attention on CUDA devices.
#include "attention/contract.h"

#include "sm90_call.h"

namespace kk_cuda {
namespace {

void Attention(kp::TensorView q, kp::TensorView k, kp::TensorView v, std::optional<kp::TensorView> lengths,
               std::optional<kp::TensorView> sinks, std::optional<double> scale, bool causal, int64_t window,
               double soft_cap, kp::MutTensorView context, kp::MutTensorView lse) {
  const AttentionCall call{q, k, v, lengths, std::nullopt, {}, scale, causal, window, soft_cap};
  if (ChoosesAttentionSm90() && TakesSm90(call, context) && lse.numel() > 0) return RunSm90(call, sinks, context, lse);
  call.Run(sinks, context, lse);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", attention, kk_cuda::Attention, KK_ATTENTION_CONTRACT);
