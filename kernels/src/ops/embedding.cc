// embedding. It is linear in the table: tangents and second order are the op and its gradient again.
#include <cstring>
#include <numeric>
#include <vector>

#include "common.h"
#include "embedding_contract.h"

namespace kk {
namespace {

template <class F>
void DispatchIndex(kp::DType dtype, F f) {
  kp::dispatch<int32_t, int64_t>(dtype, [&](auto t) { f(Tag<typename decltype(t)::type>()); });
}

// IndexError at the first index outside [0, table_rows).
template <class I>
void CheckIndices(const char* op, const I* indices, int64_t count, int64_t table_rows) {
  for (int64_t i = 0; i < count; ++i) {
    KP_CHECK(indices[i] >= 0 && indices[i] < table_rows, IndexError)
        << op << ": indices: element " << i << " is " << static_cast<int64_t>(indices[i])
        << ", out of range for a table of " << table_rows << " rows (expected 0 to " << table_rows - 1 << ')';
  }
}

void LookUp(const char* op, kp::TensorView table, kp::TensorView indices, kp::MutTensorView out) {
  DispatchIndex(indices.dtype(), [&](auto tag) {
    using I = typename decltype(tag)::Type;
    const I* rows = Data<I>(indices);
    CheckIndices(op, rows, indices.numel(), table.size(0));
    if (out.numel() == 0) return;
    const int64_t width = table.size(1);
    const auto row_bytes = static_cast<size_t>(width * table.itemsize());
    const char* from = Data<char>(table);
    char* to = Data<char>(out);
    ForRows(indices.numel(), width, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        std::memcpy(to + static_cast<size_t>(i) * row_bytes, from + static_cast<size_t>(rows[i]) * row_bytes,
                    row_bytes);
      }
    });
  });
}

// Rows of d_out grouped by the table row they came from: each sum is rounded once and in the same order on any number of
// threads.
template <class Level>
void AddUp(const char* op, kp::TensorView d_out, kp::TensorView indices, kp::MutTensorView d_table) {
  std::memset(d_table.data_ptr(), 0, static_cast<size_t>(d_table.nbytes()));
  DispatchIndex(indices.dtype(), [&](auto index_tag) {
    using I = typename decltype(index_tag)::Type;
    const I* rows = Data<I>(indices);
    const int64_t count = indices.numel(), width = d_table.size(1);
    CheckIndices(op, rows, count, d_table.size(0));
    std::vector<int64_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return rows[a] < rows[b]; });
    std::vector<int64_t> starts;
    for (int64_t i = 0; i < count; ++i) {
      if (i == 0 || rows[order[i]] != rows[order[i - 1]]) starts.push_back(i);
    }
    starts.push_back(count);
    DispatchFloat(d_table.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      ForRows(static_cast<int64_t>(starts.size()) - 1, width, [&](int64_t begin, int64_t end) {
        for (int64_t g = begin; g < end; ++g) {
          SumRows<Level, T, T>(Data<T>(d_out), order.data() + starts[g], starts[g + 1] - starts[g], 1.0,
                               Data<T>(d_table) + rows[order[starts[g]]] * width, width);
        }
      });
    });
  });
}

void Embedding(kp::TensorView table, kp::TensorView indices, kp::MutTensorView out) {
  LookUp("embedding", table, indices, out);
}

void EmbeddingJvp(kp::TensorView t_table, kp::TensorView indices, kp::MutTensorView t_out) {
  LookUp("embedding_jvp", t_table, indices, t_out);
}

template <class Level>
void EmbeddingBackward(kp::TensorView d_out, kp::TensorView, kp::TensorView indices, kp::MutTensorView d_table) {
  AddUp<Level>("embedding_backward", d_out, indices, d_table);
}

void EmbeddingBackwardBackward(kp::TensorView d_d_table, kp::TensorView indices, kp::MutTensorView d_d_out) {
  LookUp("embedding_backward_backward", d_d_table, indices, d_d_out);
}

template <class Level>
void EmbeddingBackwardJvp(kp::TensorView t_d_out, std::optional<kp::TensorView>, kp::TensorView, kp::TensorView indices,
                          kp::MutTensorView t_d_table) {
  AddUp<Level>("embedding_backward_jvp", t_d_out, indices, t_d_table);
}

}  // namespace
}  // namespace kk

KP_DOC(embedding, "table[indices]: a row of the table for each index.");
KP_EXPORT(embedding, kk::Embedding, KK_EMBEDDING_CONTRACT);
KP_EXPORT(embedding_jvp, kk::EmbeddingJvp, KK_EMBEDDING_JVP_CONTRACT);
KP_JVP(embedding, embedding_jvp);

KK_EXPORT(embedding_backward, kk::EmbeddingBackward, KK_EMBEDDING_BACKWARD_CONTRACT);
KP_GRAD(embedding, embedding_backward);
KP_EXPORT(embedding_backward_backward, kk::EmbeddingBackwardBackward,
          "(d_d_table: T[V, D], indices: I[...]) -> (d_d_out: T[..., D]) " KK_EMBEDDING_WHERE);
KP_GRAD(embedding_backward, embedding_backward_backward);
KK_EXPORT(embedding_backward_jvp, kk::EmbeddingBackwardJvp,
          "(t_d_out: T[..., D], t_table: T[V, D]?, table: T[V, D], indices: I[...]) -> (t_d_table: T[V, D] "
          "sum) " KK_EMBEDDING_WHERE);
KP_JVP(embedding_backward, embedding_backward_jvp);

// It asks for the table's shape only, so that its gradient there is zero.
KP_EXPORT(embedding_backward_zero, kk::Zeros,
          "(table: T[V, D]) -> (d_table: T[V, D]) where T in {f32, f64, f16, bf16} with deterministic, independent(D)");
KP_GRAD(embedding_backward, embedding_backward_zero);
