// embedding. It is linear in the table: tangents and second order are the op and its gradient again.
#include "embedding/contract.h"
#include "common/cpu/lookup.h"

namespace kk {
namespace {

void Embedding(kp::TensorView table, kp::TensorView indices, int64_t, kp::MutTensorView out) {
  LookUp("embedding", table, indices, out);
}

void EmbeddingJvp(kp::TensorView t_table, kp::TensorView indices, int64_t padding_idx, kp::MutTensorView t_out) {
  LookUp("embedding_jvp", t_table, indices, t_out, padding_idx);
}

template <class Level>
void EmbeddingBackward(kp::TensorView d_out, kp::TensorView, kp::TensorView indices, int64_t padding_idx,
                       kp::MutTensorView d_table) {
  AddUp<Level>("embedding_backward", d_out, indices, d_table, padding_idx);
}

void EmbeddingBackwardBackward(kp::TensorView d_d_table, kp::TensorView indices, int64_t padding_idx,
                               kp::MutTensorView d_d_out) {
  LookUp("embedding_backward_backward", d_d_table, indices, d_d_out, padding_idx);
}

template <class Level>
void EmbeddingBackwardJvp(kp::TensorView t_d_out, std::optional<kp::TensorView>, kp::TensorView, kp::TensorView indices,
                          int64_t padding_idx, kp::MutTensorView t_d_table) {
  AddUp<Level>("embedding_backward_jvp", t_d_out, indices, t_d_table, padding_idx);
}

}  // namespace
}  // namespace kk

KP_DOC(embedding,
       "table[indices]: a row of the table for each index. The row of padding_idx gets no gradient; a negative "
       "padding_idx means that every row gets one.");
KP_EXPORT(embedding, kk::Embedding, KK_EMBEDDING_CONTRACT);
KP_EXPORT(embedding_jvp, kk::EmbeddingJvp, KK_EMBEDDING_JVP_CONTRACT);
KP_JVP(embedding, embedding_jvp);

KK_EXPORT(embedding_backward, kk::EmbeddingBackward, KK_EMBEDDING_BACKWARD_CONTRACT);
KP_GRAD(embedding, embedding_backward);
KP_EXPORT(embedding_backward_backward, kk::EmbeddingBackwardBackward,
          "(d_d_table: T[V, D], indices: I[...], " KK_PADDING ") -> (d_d_out: T[..., D]) " KK_EMBEDDING_WHERE);
KP_GRAD(embedding_backward, embedding_backward_backward);
KK_EXPORT(embedding_backward_jvp, kk::EmbeddingBackwardJvp,
          "(t_d_out: T[..., D], t_table: T[V, D]?, table: T[V, D], indices: I[...], " KK_PADDING
          ") -> (t_d_table: T[V, D] sum) " KK_EMBEDDING_WHERE);
KP_JVP(embedding_backward, embedding_backward_jvp);

// It asks for the table's shape only, so that its gradient there is zero.
KP_EXPORT(embedding_backward_zero, kk::Zeros,
          "(table: T[V, D]) -> (d_table: T[V, D]) where T in {f32, f64, f16, bf16} with deterministic, independent(D)");
KP_GRAD(embedding_backward, embedding_backward_zero);
