// mean_pool. It is linear in x: tangents and second order are the op and its gradient again.
#include <cstring>
#include <vector>

#include "common/cpu/ops.h"

namespace kk {
namespace {

// The positions of one row of a mask that are not zero.
template <class M>
void FindKept(const M* mask, int64_t tokens, std::vector<int64_t>* kept) {
  kept->clear();
  for (int64_t s = 0; s < tokens; ++s) {
    if (mask[s]) kept->push_back(s);
  }
}

// f(batch, kept positions) for each row of the mask.
template <class F>
void ForBatches(kp::TensorView mask, int64_t width, F f) {
  const int64_t tokens = LastDim(mask);
  kp::dispatch<uint8_t, int32_t, int64_t>(mask.dtype() == kp::bool_ ? kp::u8 : mask.dtype(), [&](auto t) {
    using M = typename decltype(t)::type;
    ForRows(Rows(mask), tokens * width, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> kept;
      for (int64_t b = begin; b < end; ++b) {
        FindKept(Data<const M>(mask) + b * tokens, tokens, &kept);
        f(b, kept);
      }
    });
  });
}

double Share(const std::vector<int64_t>& kept) { return kept.empty() ? 0.0 : 1.0 / static_cast<double>(kept.size()); }

template <class Level>
void MeanPool(kp::TensorView x, kp::TensorView mask, kp::MutTensorView out) {
  if (out.numel() == 0) return;
  if (mask.numel() == 0) {  // no tokens: the mean of nothing
    std::memset(out.data_ptr(), 0, static_cast<size_t>(out.nbytes()));
    return;
  }
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const int64_t width = LastDim(x), tokens = LastDim(mask);
    ForBatches(mask, width, [&](int64_t b, const std::vector<int64_t>& kept) {
      SumRows<Level, T, T>(Data<T>(x) + b * tokens * width, kept.data(), static_cast<int64_t>(kept.size()), Share(kept),
                           Data<T>(out) + b * width, width);
    });
  });
}

template <class Level>
void MeanPoolBackward(kp::TensorView d_out, kp::TensorView mask, kp::MutTensorView d_x) {
  if (d_x.numel() == 0) return;
  DispatchFloat(d_out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const int64_t width = LastDim(d_x), tokens = LastDim(mask), first = 0;
    std::memset(d_x.data_ptr(), 0, static_cast<size_t>(d_x.nbytes()));
    ForBatches(mask, width, [&](int64_t b, const std::vector<int64_t>& kept) {
      for (const int64_t s : kept) {
        SumRows<Level, T, T>(Data<T>(d_out) + b * width, &first, 1, Share(kept),
                             Data<T>(d_x) + (b * tokens + s) * width, width);
      }
    });
  });
}

}  // namespace
}  // namespace kk

#define KK_WHERE "where T in {f32, f64, f16, bf16}, M in {bool, u8, i32, i64} with deterministic, independent(D)"

KP_DOC(mean_pool,
       "The mean over the second-to-last dimension, of the elements where the mask isn't 0. Zeros if there "
       "are none.");
KK_EXPORT(mean_pool, kk::MeanPool,
          "(x: T[..., S, D], mask: M[..., S]) -> (out: T[..., D]) " KK_WHERE ", invariant(batch)");
KK_EXPORT(mean_pool_jvp, kk::MeanPool, "(t_x: T[..., S, D], mask: M[..., S]) -> (t_out: T[..., D]) " KK_WHERE);
KP_JVP(mean_pool, mean_pool_jvp);

KK_EXPORT(mean_pool_backward, kk::MeanPoolBackward,
          "(d_out: T[..., D], mask: M[..., S]) -> (d_x: T[..., S, D]) " KK_WHERE);
KP_GRAD(mean_pool, mean_pool_backward);
KK_EXPORT(mean_pool_backward_backward, kk::MeanPool,
          "(d_d_x: T[..., S, D], mask: M[..., S]) -> (d_d_out: T[..., D]) " KK_WHERE);
KP_GRAD(mean_pool_backward, mean_pool_backward_backward);
KK_EXPORT(mean_pool_backward_jvp, kk::MeanPoolBackward,
          "(t_d_out: T[..., D], mask: M[..., S]) -> (t_d_x: T[..., S, D]) " KK_WHERE);
KP_JVP(mean_pool_backward, mean_pool_backward_jvp);
