// masked_attention on CUDA devices.
#include "attention/contract.h"

#include "attention_call.h"

namespace kk_cuda {
namespace {

void MaskedAttention(kp::TensorView q, kp::TensorView k, kp::TensorView v, kp::TensorView mask,
                     std::optional<kp::TensorView> sinks, std::optional<double> scale, bool causal, int64_t window,
                     double soft_cap, kp::MutTensorView context, kp::MutTensorView lse) {
  AttentionCall{q, k, v, std::nullopt, mask, LayoutOfMask(q, mask), scale, causal, window, soft_cap}.Run(sinks, context,
                                                                                                         lse);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", masked_attention, kk_cuda::MaskedAttention, KK_MASKED_ATTENTION_CONTRACT);
