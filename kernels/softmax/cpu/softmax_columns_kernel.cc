// Softmax of columns: maximum, exponentials and their sum, scale, a few vectors of columns at a time. And its gradient.
#include <type_traits>

#include "common/cpu/math.h"
#include "common/cpu/row.h"
#include "common/cpu/rows.h"

namespace kk {
namespace {

constexpr int64_t kBlock = 64;  // rows whose sum is formed in one go, so that its error doesn't grow with the column

// The sums over n rows of term(row, k) for each of kCount vectors.
template <int kCount, class V, class Term>
void ColumnSums(int64_t n, V* sums, Term term) {
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    V of_block[kCount] = {};
    for (int64_t row = begin; row < (n - begin < kBlock ? n : begin + kBlock); ++row) {
      for (int k = 0; k < kCount; ++k) of_block[k] += term(row, k);
    }
    for (int k = 0; k < kCount; ++k) sums[k] += of_block[k];
  }
}

}  // namespace

template <class Level, class T>
void SoftmaxColumns(const T* x, T* out, int64_t n, int64_t width, int64_t stride) {
  using P = Pack<T>;
  using S = ComputeType<T>;
  using V = typename P::V;
  constexpr S lowest = -static_cast<S>(__builtin_inf());
  // Exponentials wait in the result to be scaled if it has the precision, else they are computed again.
  constexpr bool kKept = std::is_same_v<T, S>;
  ForVectors<T>(width, [&](int64_t i, auto count, auto extent) {
    V max[count], scale[count] = {};
    for (int k = 0; k < count; ++k) max[k] = Splat(lowest);
    for (int64_t row = 0; row < n; ++row) {
      for (int k = 0; k < count; ++k) max[k] = Max(Get(x + row * stride + i + k * P::kLanes, extent, lowest), max[k]);
    }
    for (int k = 0; k < count; ++k) max[k] = max[k] == lowest ? V{} : max[k];  // -inf only: zeros, not -inf - -inf
    const auto exponential = [&](int64_t row, int k) {
      return Exp(Get(x + row * stride + i + k * P::kLanes, extent, lowest) - max[k]);
    };
    ColumnSums<count>(n, scale, [&](int64_t row, int k) {
      const V e = exponential(row, k);
      if constexpr (kKept) Put(out + row * stride + i + k * P::kLanes, extent, e);
      return e;
    });
    for (int k = 0; k < count; ++k) scale[k] = scale[k] == 0 ? V{} : 1 / scale[k];
    for (int64_t row = 0; row < n; ++row) {
      for (int k = 0; k < count; ++k) {
        T* to = out + row * stride + i + k * P::kLanes;
        if constexpr (kKept) {
          Put(to, extent, Get(to, extent) * scale[k]);
        } else {
          Put(to, extent, exponential(row, k) * scale[k]);
        }
      }
    }
  });
}

// By halves: of the sum and d_out the difference then cannot overflow. A half loses nothing.
template <class Level, class T>
void SoftmaxColumnsBackward(const T* d_out, const T* out, T* d_x, int64_t n, int64_t width, int64_t stride) {
  using P = Pack<T>;
  using S = ComputeType<T>;
  using V = typename P::V;
  ForVectors<T>(width, [&](int64_t i, auto count, auto extent) {
    V dot[count] = {};
    ColumnSums<count>(n, dot, [&](int64_t row, int k) {
      const int64_t at = row * stride + i + k * P::kLanes;
      return Get(d_out + at, extent) * S{0.5} * Get(out + at, extent);
    });
    for (int64_t row = 0; row < n; ++row) {
      for (int k = 0; k < count; ++k) {
        const int64_t at = row * stride + i + k * P::kLanes;
        const V half = (Get(d_out + at, extent) * S{0.5} - dot[k]) * Get(out + at, extent);
        Put(d_x + at, extent, half + half);
      }
    }
  });
}

#define KK_INSTANTIATE(T)                                                               \
  template void SoftmaxColumns<KP_VARIANT, T>(const T*, T*, int64_t, int64_t, int64_t); \
  template void SoftmaxColumnsBackward<KP_VARIANT, T>(const T*, const T*, T*, int64_t, int64_t, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
