// Code that the calls of attention and of its gradient share.
#pragma once

#include "common/cpu/ops.h"
#include "tasks.h"

namespace kk {

inline AttentionStrides GetStrides(kp::TensorView x) { return {x.stride(0), x.stride(1), x.stride(2)}; }

// How scores are made and which of them count.
struct AttentionOptions {
  std::optional<kp::TensorView> lengths;
  std::optional<double> scale;
  bool causal;
  int64_t window;
  double soft_cap;
  std::optional<kp::TensorView> sinks = {};
  std::optional<kp::TensorView> mask =
      {};  // [1 or batch, 1 or heads, 1 or queries, keys]; its last dimension isn't strided
};

inline MaskKind GetMaskKind(kp::DType dtype) {
  if (dtype == kp::dtype_of<bool>) return MaskKind::kBool;
  if (dtype == kp::dtype_of<float>) return MaskKind::kFloat;
  return dtype == kp::dtype_of<kp::half> ? MaskKind::kF16 : MaskKind::kBf16;
}

// 0 where the mask is the same for all.
inline int64_t MaskStride(kp::TensorView mask, int64_t d, int64_t size, const char* of) {
  KP_CHECK(mask.size(d) == 1 || mask.size(d) == size, ValueError)
      << "mask: expected 1 or " << size << " in dimension " << d << ", the " << of << ", got " << mask.size(d);
  return mask.size(d) == 1 ? 0 : mask.stride(d);
}

inline AttentionMask MakeMask(const std::optional<kp::TensorView>& mask, kp::TensorView q) {
  if (!mask) return {};
  return {GetMaskKind(mask->dtype()), mask->data_ptr(), MaskStride(*mask, 0, q.size(0), "batch"),
          MaskStride(*mask, 1, q.size(2), "heads"), MaskStride(*mask, 2, q.size(1), "queries")};
}

inline void CheckAttention(const AttentionOptions& options, kp::TensorView k) {
  CheckSoftCap(options.soft_cap);
  const auto* lengths = Data<int32_t>(options.lengths);
  for (int64_t b = 0; lengths && b < options.lengths->size(0); ++b) {
    KP_CHECK(lengths[b] >= 0 && lengths[b] <= k.size(1), ValueError)
        << "lengths: expected 0 to " << k.size(1) << ", the number of keys, got " << lengths[b] << " for item " << b;
  }
}

// f(arguments) in the type of q, k and v.
template <class F>
void DispatchAttention(kp::TensorView q, kp::TensorView k, kp::TensorView v, const AttentionOptions& options, F f) {
  const int64_t width = q.size(3);
  const AttentionMask mask = MakeMask(options.mask, q);
  kp::dispatch<float, kp::half, kp::bfloat16>(q.dtype(), [&](auto t) {
    using T = typename Storage<typename decltype(t)::type>::Type;
    f(AttentionArgs<T>{Data<T>(q), Data<T>(k), Data<T>(v), GetStrides(q), GetStrides(k), GetStrides(v), q.size(0),
                       q.size(1), q.size(2), k.size(1), k.size(2), width, AttentionScale(options.scale, width),
                       GetSoftCap(options.soft_cap), options.causal, options.window, Data<int32_t>(options.lengths),
                       mask, Data<float>(options.sinks)});
  });
}

}  // namespace kk
