// grouped_linear and its gradient: the rows of each group by a matrix of their own. sort_into_groups: which rows those are.
#include <numeric>
#include <vector>

#include "common/cpu/segments.h"
#include "dispatch.h"
#include "dense_product.h"

namespace kk {
namespace {

template <class T>
Matrix<T> MakeMatrix(kp::TensorView weights, int64_t group) {
  return {Data<T>(weights) + group * weights.stride(0), weights.size(1), weights.size(2), weights.stride(1),
          weights.stride(2)};
}

// f(group, its first row, how many it has), of groups that have rows.
template <class F>
void ForGroups(const std::vector<int64_t>& bounds, F f) {
  for (size_t g = 0; g + 1 < bounds.size(); ++g) {
    if (bounds[g] < bounds[g + 1]) f(static_cast<int64_t>(g), bounds[g], bounds[g + 1] - bounds[g]);
  }
}

template <class Level>
void GroupedLinear(kp::TensorView x, kp::TensorView weight, kp::TensorView offsets, kp::MutTensorView out) {
  const std::vector<int64_t> bounds = Bounds(offsets, x.size(0));
  const int64_t n = weight.size(1), columns = weight.size(2);
  DispatchLinear(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForGroups(bounds, [&](int64_t group, int64_t first, int64_t rows) {
      DenseProduct<Level>(Contiguous(Data<T>(x) + first * columns, rows, columns),
                          DenseWeight<T>{MakeMatrix<T>(weight, group), nullptr},
                          LinearResult<T>{Data<T>(out) + first * n, {}, {}, {}}, DenseInPairs<Level, T>());
    });
  });
}

template <class Level>
void GroupedLinearBackward(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight, kp::TensorView offsets,
                           kp::MutTensorView d_x, kp::MutTensorView d_weight) {
  const std::vector<int64_t> bounds = Bounds(offsets, x.size(0));
  const int64_t n = weight.size(1), columns = weight.size(2);
  std::memset(d_weight.data_ptr(), 0, static_cast<size_t>(d_weight.nbytes()));  // groups without rows
  if (n == 0) std::memset(d_x.data_ptr(), 0, static_cast<size_t>(d_x.nbytes()));
  DispatchLinear(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const bool pairs = DenseInPairs<Level, T>();
    ForGroups(bounds, [&](int64_t group, int64_t first, int64_t rows) {
      const Matrix<T> d = Contiguous(Data<T>(d_out) + first * n, rows, n);
      const Matrix<T> in = Contiguous(Data<T>(x) + first * columns, rows, columns);
      DenseProduct<Level>(d, DenseWeight<T>{MakeMatrix<T>(weight, group).Transposed(), nullptr},
                          LinearResult<T>{Data<T>(d_x) + first * columns, {}, {}, {}}, pairs);
      DenseProduct<Level>(d.Transposed(), DenseWeight<T>{in.Transposed(), nullptr},
                          LinearResult<T>{Data<T>(d_weight) + group * n * columns, {}, {}, {}}, pairs);
    });
  });
}

// Counting sort: rows of one group stay in their order.
void SortIntoGroups(kp::TensorView groups, int64_t count, kp::MutTensorView order, kp::MutTensorView offsets) {
  std::vector<int32_t> next(static_cast<size_t>(count) + 1);
  kp::dispatch<int32_t, int64_t>(groups.dtype(), [&](auto t) {
    const auto* group = Data<typename decltype(t)::type>(groups);
    const int64_t rows = groups.numel();
    for (int64_t i = 0; i < rows; ++i) {
      KP_CHECK(group[i] >= 0 && group[i] < count, IndexError)
          << "groups: element " << i << " is " << static_cast<int64_t>(group[i]) << ": expected numbers from 0 to "
          << count - 1;
      ++next[static_cast<size_t>(group[i]) + 1];
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::copy_n(next.begin(), count, Data<int32_t>(offsets));
    for (int64_t i = 0; i < rows; ++i) {
      Data<int32_t>(order)[next[static_cast<size_t>(group[i])]++] = static_cast<int32_t>(i);
    }
  });
}

}  // namespace
}  // namespace kk

#define KK_GROUPED "where T in {f32, f16, bf16}, I in {i32, i64}, E > 0 with deterministic"

KP_DOC(grouped_linear,
       "The rows of each group times the transpose of its own matrix, as the experts of a mixture-of-experts layer "
       "have: group i begins at row offsets[i] and ends where the next one begins, the last one at the end of x. "
       "sort_into_groups makes the offsets. The weights may be strided.");
KK_EXPORT_TILES(grouped_linear, kk::GroupedLinear,
                "(x: T[M, K], weight: T[E, N, K] strided, offsets: I[E]) -> (out: T[M, N]) " KK_GROUPED);
KK_EXPORT_TILES(grouped_linear_backward, kk::GroupedLinearBackward,
                "(d_out: T[M, N], x: T[M, K], weight: T[E, N, K] strided, offsets: I[E]) "
                "-> (d_x: T[M, K], d_weight: T[E, N, K]) " KK_GROUPED ", nondiff(d_out, x, weight)");
KP_GRAD(grouped_linear, grouped_linear_backward);

KP_DOC(sort_into_groups,
       "The order in which the rows of each group stand together: order[j] is the row that comes at place j, and group "
       "i begins at place offsets[i]. Rows of one group keep their order. groups: the group of each row, from 0 to "
       "count - 1.");
KP_EXPORT(sort_into_groups, kk::SortIntoGroups,
          "(groups: I[M], *, count: int) -> (order: i32[M], offsets: i32[count]) "
          "where I in {i32, i64}, count > 0, M <= 2147483647 with deterministic");
