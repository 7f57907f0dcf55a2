// masked_attention.
#include "tasks.h"

namespace kk {
namespace {

MaskKind KindOf(kp::DType dtype) {
  if (dtype == kp::dtype_of<bool>) return MaskKind::kBool;
  if (dtype == kp::dtype_of<float>) return MaskKind::kFloat;
  return dtype == kp::dtype_of<kp::half> ? MaskKind::kF16 : MaskKind::kBf16;
}

// 0 where the mask is the same for all.
int64_t MaskStride(kp::TensorView mask, int64_t d, int64_t size, const char* of) {
  KP_CHECK(mask.size(d) == 1 || mask.size(d) == size, ValueError)
      << "mask: expected 1 or " << size << " in dimension " << d << ", the " << of << ", got " << mask.size(d);
  return mask.size(d) == 1 ? 0 : mask.stride(d);
}

template <class Level>
void MaskedAttention(kp::TensorView q, kp::TensorView k, kp::TensorView v, kp::TensorView mask,
                     std::optional<double> scale, bool causal, int64_t window, double soft_cap, kp::MutTensorView out) {
  const CompactRows rows_q(q), rows_k(k), rows_v(v), rows_mask(mask);
  KP_CHECK(soft_cap >= 0, ValueError) << "soft_cap: expected a positive number, or 0 for none, got " << soft_cap;
  const AttentionMask given = {KindOf(mask.dtype()), mask.data_ptr(), MaskStride(mask, 0, q.size(0), "batch"),
                               MaskStride(mask, 1, q.size(2), "heads"), MaskStride(mask, 2, q.size(1), "queries")};
  if (out.numel() == 0) return;
  DispatchLinear(q.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const auto strides = [](kp::TensorView x) { return AttentionStrides{x.stride(0), x.stride(1), x.stride(2)}; };
    const AttentionArgs<T> args = {Data<T>(q),
                                   Data<T>(k),
                                   Data<T>(v),
                                   strides(q),
                                   strides(k),
                                   strides(v),
                                   q.size(0),
                                   q.size(1),
                                   q.size(2),
                                   k.size(1),
                                   k.size(2),
                                   q.size(3),
                                   AttentionScale(scale, q.size(3)),
                                   static_cast<float>(soft_cap),
                                   causal,
                                   window,
                                   nullptr,
                                   given};
    const AttentionBlocks<Level, T> work(args, Data<T>(out));
    kp::parallel_for(work.count(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) work.Run(i);
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(masked_attention,
       "attention with a mask; dimensions of the mask may be 1. A boolean mask keeps the scores where it "
       "is True; any other mask is added to the scores, after soft_cap. It can't bring back what causal "
       "and window leave out. A query without keys gives zeros.");
KK_EXPORT(
    masked_attention, kk::MaskedAttention,
    "(q: T[B, S, H, D] strided, k: T[B, L, G, D] strided, v: T[B, L, G, D] strided, mask: M[X, Y, Z, L] strided, *, "
    "scale: float? = None, causal: bool = False, window: int = 0, soft_cap: float = 0.0) -> (out: T[B, S, H, D]) "
    "where T in {f32, f16, bf16}, M in {bool, f32, f16, bf16}, G > 0, H % G == 0, window >= 0 with deterministic");
