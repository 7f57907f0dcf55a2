// Chosen rows in one: their sum, all times one number or each times its own, and the largest of each column.
#include "row.h"
#include "rows.h"

namespace kk {
namespace {

// Asks for the beginning of each row: the rows lie anywhere, and no hardware knows which comes next.
template <class T>
void Prefetch(const T* x, const int64_t* rows, int64_t count, int64_t width) {
  constexpr int64_t kLine = 64, kMost = 64;  // bytes; rows, of which the caches keep all
  for (int64_t k = 0; k < (count < kMost ? count : kMost); ++k) {
    const auto* row = reinterpret_cast<const char*>(x + rows[k] * width);
    for (int64_t at = 0; at < kTogether * kBytes; at += kLine) __builtin_prefetch(row + at);
  }
}

// Rows times factor(k) are added in two chains, the even and the odd ones, whatever the column.
template <class In, class Out, class Factor>
void Sum(const In* x, const int64_t* rows, int64_t count, Factor factor, Out* out, int64_t width) {
  using V = typename Pack<Out>::V;
  constexpr int64_t lanes = Pack<Out>::kLanes,
                    kNext = kTogether * lanes * sizeof(In);  // of a row, the bytes of the next step
  Prefetch(x, rows, count, width);
  ForVectors<Out>(width, [&](int64_t i, auto vectors, auto extent) {
    V even[vectors] = {}, odd[vectors] = {};
    const auto add = [&](V* sums, int64_t k) {
      const In* row = x + rows[k] * width + i;
      for (int64_t at = 0; at < kNext; at += 64) __builtin_prefetch(reinterpret_cast<const char*>(row) + kNext + at);
      for (int v = 0; v < vectors; ++v) sums[v] += Get(row + v * lanes, extent) * factor(k);
    };
    int64_t k = 0;
    for (; k + 2 <= count; k += 2) {
      add(even, k);
      add(odd, k + 1);
    }
    if (k < count) add(even, k);
    for (int v = 0; v < vectors; ++v) Put(out + i + v * lanes, extent, even[v] + odd[v]);
  });
}

}  // namespace

// Scaled before they are added: the mean of large values is none too large.
template <class Level, class In, class Out>
void SumRows(const In* x, const int64_t* rows, int64_t count, double scale, Out* out, int64_t width) {
  const auto factor = static_cast<ComputeType<Out>>(scale);
  Sum(x, rows, count, [=](int64_t) { return factor; }, out, width);
}

template <class Level, class T>
void SumWeightedRows(const T* x, const int64_t* rows, const ComputeType<T>* weights, int64_t count, T* out,
                     int64_t width) {
  Sum(x, rows, count, [=](int64_t k) { return weights[k]; }, out, width);
}

template <class Level, class T>
void MaxRows(const T* x, const int64_t* rows, int64_t count, T* out, int64_t width) {
  using V = typename Pack<T>::V;
  constexpr int64_t lanes = Pack<T>::kLanes;
  ForVectors<T>(width, [&](int64_t i, auto vectors, auto extent) {
    V largest[vectors];
    for (int v = 0; v < vectors; ++v) largest[v] = Get(x + rows[0] * width + i + v * lanes, extent);
    for (int64_t k = 1; k < count; ++k) {
      for (int v = 0; v < vectors; ++v) {
        const V value = Get(x + rows[k] * width + i + v * lanes, extent);
        largest[v] = value > largest[v] ? value : value == value ? largest[v] : value;  // a NaN stays
      }
    }
    for (int v = 0; v < vectors; ++v) Put(out + i + v * lanes, extent, largest[v]);
  });
}

#define KK_INSTANTIATE_PAIR(In, Out) \
  template void SumRows<KP_VARIANT, In, Out>(const In*, const int64_t*, int64_t, double, Out*, int64_t);
#define KK_INSTANTIATE(T)                                                                                              \
  KK_INSTANTIATE_PAIR(T, T)                                                                                            \
  template void SumWeightedRows<KP_VARIANT, T>(const T*, const int64_t*, const ComputeType<T>*, int64_t, T*, int64_t); \
  template void MaxRows<KP_VARIANT, T>(const T*, const int64_t*, int64_t, T*, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)
KK_INSTANTIATE_PAIR(float, Bf16)
KK_INSTANTIATE_PAIR(float, F16)

}  // namespace kk
