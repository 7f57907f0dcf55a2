// scatter_sum, the transpose of a look-up. It is linear in x: tangents and second order are the op and its gradient again.
#include "common/cpu/lookup.h"

namespace kk {
namespace {

template <class Level>
void Scatter(kp::TensorView x, kp::TensorView indices, int64_t, kp::MutTensorView out) {
  AddUp<Level>("scatter_sum", x, indices, out);
}

void Gather(kp::TensorView from, kp::TensorView indices, int64_t, kp::MutTensorView out) {
  LookUp("scatter_sum_backward", from, indices, out);
}

}  // namespace
}  // namespace kk

#define KK_WHERE "where T in {f32, f64, f16, bf16}, I in {i32, i64}, rows >= 0 with deterministic, independent(D)"

KP_DOC(
    scatter_sum,
    "The sum of the rows of x that have the same index: row i of the result is the sum of the rows whose index is i, "
    "in their order, and zeros if there are none. The result has `rows` rows.");
KK_EXPORT(scatter_sum, kk::Scatter, "(x: T[N, D], indices: I[N], *, rows: int) -> (out: T[rows, D]) " KK_WHERE);
KK_EXPORT(scatter_sum_jvp, kk::Scatter, "(t_x: T[N, D], indices: I[N], *, rows: int) -> (t_out: T[rows, D]) " KK_WHERE);
KP_JVP(scatter_sum, scatter_sum_jvp);
KP_EXPORT(scatter_sum_backward, kk::Gather,
          "(d_out: T[rows, D], indices: I[N], *, rows: int) -> (d_x: T[N, D]) " KK_WHERE);
KP_GRAD(scatter_sum, scatter_sum_backward);
KK_EXPORT(scatter_sum_backward_backward, kk::Scatter,
          "(d_d_x: T[N, D], indices: I[N], *, rows: int) -> (d_d_out: T[rows, D]) " KK_WHERE);
KP_GRAD(scatter_sum_backward, scatter_sum_backward_backward);
KP_EXPORT(scatter_sum_backward_jvp, kk::Gather,
          "(t_d_out: T[rows, D], indices: I[N], *, rows: int) -> (t_d_x: T[N, D]) " KK_WHERE);
KP_JVP(scatter_sum_backward, scatter_sum_backward_jvp);
