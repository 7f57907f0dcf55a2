// softmax, its gradient and its mask's on CUDA devices.
#include "softmax/contract.h"
#include "common/cuda/parts.h"
#include "softmax.fatbin.h"
#include "softmax_held.fatbin.h"
#include "softmax_mask_backward.fatbin.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kSoftmax{
    "softmax", "fatbin", {device_code::softmax_fatbin, sizeof device_code::softmax_fatbin}};
constexpr kp::DeviceCode kSoftmaxHeld{
    "softmax_held", "fatbin", {device_code::softmax_held_fatbin, sizeof device_code::softmax_held_fatbin}};
constexpr kp::DeviceCode kMaskBackward{
    "softmax_mask_backward",
    "fatbin",
    {device_code::softmax_mask_backward_fatbin, sizeof device_code::softmax_mask_backward_fatbin}};

SoftmaxParams MakeParams(kp::TensorView x, const std::optional<kp::TensorView>& mask) {
  SoftmaxParams p{};
  p.width = ToInt("x", x.size(-1)), p.rows = x.numel() / p.width;
  if (!mask) return p;
  CheckDims("x", x);
  p.mask = GetBroadcastLayout(x.sizes(), 1, *mask);
  p.kind = mask->dtype() == kp::bool_ ? kKept : kAdded;
  if (p.kind == kAdded) p.added = GetKind(mask->dtype());
  return p;
}

// x and the others, which have its shape, are contiguous.
template <class... Args>
void Launch(const std::string& kernel, const SoftmaxParams& p, bool aligned, kp::TensorView x, const Args&... args) {
  const int threads = TeamFor(x.dtype(), p.width, 512);
  if (threads != 0 && aligned && IsAligned(x) && p.width * x.itemsize() % kChunkBytes == 0) {
    const std::string held = Named("softmax_held" + kernel, x.dtype()) + "_" + std::to_string(threads);
    kp::launch(x.device(), kSoftmaxHeld, held.c_str(), {TeamBlocks(threads, p.rows)}, {TeamBlock(threads)}, x, args...,
               p);
  } else {
    kp::launch(x.device(), kSoftmax, Named("softmax" + kernel, x.dtype()).c_str(), {BlockCount(p.rows)}, {kRowThreads},
               x, args..., p);
  }
}

void Softmax(kp::TensorView x, std::optional<kp::TensorView> mask, kp::MutTensorView probs) {
  if (x.numel() != 0) Launch("", MakeParams(x, mask), IsAligned(probs), x, GetMemory(mask), probs);
}

void SoftmaxBackward(kp::TensorView d_probs, kp::TensorView probs, kp::MutTensorView d_x) {
  if (probs.numel() == 0) return;
  Launch("_backward", MakeParams(probs, std::nullopt), IsAligned(probs) && IsAligned(d_x), d_probs, probs, d_x);
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
  p.parts = static_cast<int>(CountParts(p.repeats, d_mask.numel()));
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
