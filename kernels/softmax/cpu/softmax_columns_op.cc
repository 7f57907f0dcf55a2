// softmax_columns and its gradient: over the dimension before the last. Second order: softmax_columns_second.cc.
#include "common/cpu/ops.h"

namespace kk {
namespace {

constexpr int64_t kColumns = 256;  // those that a thread takes at a time

// f(offset, columns) for blocks of columns of each matrix of `x`.
template <class F>
void ForColumnBlocks(kp::TensorView x, F f) {
  if (x.numel() == 0) return;
  const int64_t n = x.size(-2), width = x.size(-1);
  const int64_t blocks = (width + kColumns - 1) / kColumns;
  ForRows(x.numel() / (n * width) * blocks, n * std::min(width, kColumns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * kColumns;
      f(i / blocks * n * width + first, std::min(kColumns, width - first));
    }
  });
}

template <class Level>
void Forward(kp::TensorView x, kp::MutTensorView probs) {
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForColumnBlocks(x, [&](int64_t at, int64_t columns) {
      SoftmaxColumns<Level, T>(Data<T>(x) + at, Data<T>(probs) + at, x.size(-2), columns, x.size(-1));
    });
  });
}

template <class Level>
void Backward(kp::TensorView d_probs, kp::TensorView probs, kp::MutTensorView d_x) {
  DispatchFloat(probs.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForColumnBlocks(probs, [&](int64_t at, int64_t columns) {
      SoftmaxColumnsBackward<Level, T>(Data<T>(d_probs) + at, Data<T>(probs) + at, Data<T>(d_x) + at, probs.size(-2),
                                       columns, probs.size(-1));
    });
  });
}

}  // namespace
}  // namespace kk

#define KK_WHERE "where T in {f32, f64, f16, bf16} with deterministic, independent(D)"

KP_DOC(softmax_columns,
       "exp(x) / sum(exp(x)) over the dimension before the last: a softmax over any dimension, of a tensor seen as "
       "[..., N, what comes behind]. A column of -inf gives zeros.");
KK_EXPORT(softmax_columns, kk::Forward, "(x: T[..., N, D]) -> (probs: T[..., N, D]) " KK_WHERE ", invariant(batch)");
// The matrix of derivatives is symmetric: tangents and gradients are multiplied by the same.
KK_EXPORT(softmax_columns_jvp, kk::Backward,
          "(t_x: T[..., N, D], probs: T[..., N, D]) -> (t_probs: T[..., N, D]) " KK_WHERE);
KP_JVP(softmax_columns, softmax_columns_jvp);
KK_EXPORT(softmax_columns_backward, kk::Backward,
          "(d_probs: T[..., N, D], probs: T[..., N, D]) -> (d_x: T[..., N, D]) " KK_WHERE);
KP_GRAD(softmax_columns, softmax_columns_backward);
