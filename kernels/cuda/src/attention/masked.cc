// masked_attention on CUDA devices.
#include "../../../src/attention/contract.h"

#include "attention_call.h"

namespace kk_cuda {
namespace {

MaskKind KindOf(kp::DType dtype) {
  if (dtype == kp::dtype_of<bool>) return kBoolMask;
  if (dtype == kp::dtype_of<float>) return kFloatMask;
  return dtype == kp::dtype_of<kp::half> ? kHalfMask : kBfloatMask;
}

// 0 where the mask is the same for all.
int64_t StrideOf(kp::TensorView mask, int64_t d, int64_t size, const char* of) {
  KP_CHECK(mask.size(d) == 1 || mask.size(d) == size, ValueError)
      << "mask: expected 1 or " << size << " in dimension " << d << ", the " << of << ", got " << mask.size(d);
  return mask.size(d) == 1 ? 0 : mask.stride(d);
}

void MaskedAttention(kp::TensorView q, kp::TensorView k, kp::TensorView v, kp::TensorView mask,
                     std::optional<double> scale, bool causal, int64_t window, double soft_cap,
                     kp::MutTensorView context, kp::MutTensorView lse) {
  const MaskLayout layout = {StrideOf(mask, 0, q.size(0), "batch"), StrideOf(mask, 1, q.size(2), "heads"),
                             StrideOf(mask, 2, q.size(1), "queries"), mask.stride(3), KindOf(mask.dtype())};
  AttentionCall{q, k, v, std::nullopt, mask, layout, scale, causal, window, soft_cap}.Run(context, lse);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", masked_attention, kk_cuda::MaskedAttention, KK_MASKED_ATTENTION_CONTRACT);
