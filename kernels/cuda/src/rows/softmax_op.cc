// softmax, its gradient and its mask's on CUDA devices.
#include "../../../src/ops/softmax_contract.h"
#include "parts.h"
#include "softmax.fatbin.h"
#include "softmax_mask_backward.fatbin.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kSoftmax{
    "softmax", "fatbin", {device_code::softmax_fatbin, sizeof device_code::softmax_fatbin}};
constexpr kp::DeviceCode kMaskBackward{
    "softmax_mask_backward",
    "fatbin",
    {device_code::softmax_mask_backward_fatbin, sizeof device_code::softmax_mask_backward_fatbin}};

SoftmaxParams ParamsOf(kp::TensorView x, const std::optional<kp::TensorView>& mask) {
  SoftmaxParams p{};
  p.width = ToInt("x", x.size(-1));
  if (!mask) return p;
  CheckDims("x", x);
  p.mask = BroadcastOf(x.sizes(), 1, *mask);
  p.kind = mask->dtype() == kp::bool_ ? kKept : kAdded;
  if (p.kind == kAdded) p.added = KindOf(mask->dtype());
  return p;
}

void Softmax(kp::TensorView x, std::optional<kp::TensorView> mask, kp::MutTensorView probs) {
  if (x.numel() == 0) return;
  kp::launch(x.device(), kSoftmax, Named("softmax", x.dtype()).c_str(), {BlockCount(x.numel() / x.size(-1))},
             {kRowThreads}, x, MemoryOf(mask), probs, ParamsOf(x, mask));
}

void SoftmaxBackward(kp::TensorView d_probs, kp::TensorView probs, kp::MutTensorView d_x) {
  if (probs.numel() == 0) return;
  kp::launch(probs.device(), kSoftmax, Named("softmax_backward", probs.dtype()).c_str(),
             {BlockCount(probs.numel() / probs.size(-1))}, {kRowThreads}, d_probs, probs, d_x,
             ToInt("probs", probs.size(-1)));
}

// Dimensions that the mask has, and those that it is repeated along, each with the distance of its rows in probs.
void Split(kp::TensorView probs, kp::TensorView mask, SoftmaxMaskBackwardParams* p) {
  p->mask_rows = p->repeats = 1;
  int64_t distance = 1;
  for (int64_t d = probs.dim() - 2, m = mask.dim() - 2; d >= 0; --d, --m) {
    const bool of_mask = m >= 0 && mask.size(m) == probs.size(d);
    KP_CHECK(of_mask || m < 0 || mask.size(m) == 1, ValueError)
        << "mask: expected 1 or " << probs.size(d) << " in dimension " << m << ", got " << mask.size(m);
    RowLayout& layout = of_mask ? p->first : p->repeated;
    layout.size[layout.dims] = probs.size(d);
    layout.stride[layout.dims++] = distance;
    (of_mask ? p->mask_rows : p->repeats) *= probs.size(d);
    distance *= probs.size(d);
  }
}

void SoftmaxMaskBackward(kp::TensorView d_probs, kp::TensorView probs, kp::TensorView mask, kp::MutTensorView d_mask) {
  CheckDims("probs", probs);
  KP_CHECK(mask.dim() > 0 && mask.dim() <= probs.dim() && mask.size(-1) == probs.size(-1), ValueError)
      << "mask: expected at most " << probs.dim() << " dimensions, the last of " << probs.size(-1) << ", got "
      << mask.sizes();
  SoftmaxMaskBackwardParams p{};
  p.width = ToInt("probs", probs.size(-1));
  Split(probs, mask, &p);
  if (d_mask.numel() == 0) return;
  p.parts = static_cast<int>(PartsOf(p.repeats, d_mask.numel()));
  const Partial partial(probs, p.parts, d_mask.numel());
  kp::launch(probs.device(), kMaskBackward, Named("softmax_mask_backward", probs.dtype()).c_str(),
             {BlockCount(p.mask_rows * p.parts)}, {kRowThreads}, d_probs, probs, partial.memory(), p);
  partial.SumInto(d_mask, 0, 2);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", softmax, kk_cuda::Softmax, KK_SOFTMAX_CONTRACT);
KP_EXPORT_FOR("cuda", softmax_backward, kk_cuda::SoftmaxBackward, KK_SOFTMAX_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", softmax_mask_backward, kk_cuda::SoftmaxMaskBackward, KK_SOFTMAX_MASK_BACKWARD_CONTRACT);
