// Softmax of a row: maximum, exponentials and their sum, scale. And its gradient.
#include <type_traits>

#include "common/cpu/math.h"
#include "common/cpu/rows.h"
#include "common/cpu/sum_squares.h"

namespace kk {
namespace {

// A boolean mask's bytes as vector lanes: all ones where the value takes part.
template <class T>
auto Kept(const uint8_t* mask, Whole) {
  typedef uint8_t Bytes __attribute__((vector_size(Pack<T>::kLanes)));
  Bytes bytes;
  std::memcpy(&bytes, mask, sizeof bytes);
  return __builtin_convertvector(bytes, decltype(Pack<T>::LaneIndex())) != 0;
}

template <class T>
auto Kept(const uint8_t* mask, Part part) {
  uint8_t padded[Pack<T>::kLanes] = {};
  for (int i = 0; i < part.count; ++i) padded[i] = mask[i];
  return Kept<T>(padded, Whole{});
}

// x with the mask applied; what is left out, or lies past the end, is -inf.
template <class T, class Mask, class Extent>
typename Pack<T>::V Masked(const T* x, const Mask* mask, int64_t i, Extent extent) {
  constexpr auto lowest = -static_cast<typename Pack<T>::S>(__builtin_inf());
  const auto v = Get(x + i, extent, lowest);
  if constexpr (std::is_void_v<Mask>) {
    return v;
  } else if constexpr (std::is_same_v<Mask, uint8_t>) {
    return Kept<T>(mask + i, extent) ? v : Splat(lowest);
  } else {
    return v + Get(mask + i, extent);
  }
}

// Half of sum d_out * out: of that, and of half of d_out, the difference cannot overflow. A half loses nothing.
template <class T>
ComputeType<T> HalfDot(const T* d_out, const T* out, int64_t width) {
  using S = ComputeType<T>;
  return static_cast<S>(
      RowSum<T>(width, [&](int64_t i, auto extent) { return Get(d_out + i, extent) * S{0.5} * Get(out + i, extent); }));
}

// Half of the gradient (d_out - dot) * out.
template <class T, class S, class Extent>
typename Pack<T>::V HalfGradient(const T* d_out, const T* out, S half_dot, int64_t i, Extent extent) {
  return (Get(d_out + i, extent) * S{0.5} - half_dot) * Get(out + i, extent);
}

}  // namespace

template <class Level, class T, class Mask>
void SoftmaxRow(const T* x, const Mask* mask, T* out, ComputeType<T>* scratch, int64_t width) {
  using S = ComputeType<T>;
  const S max = RowMax<T>(width, [&](int64_t i, auto extent) { return Masked(x, mask, i, extent); });
  const S shift = max == -static_cast<S>(__builtin_inf()) ? 0 : max;  // a row of -inf is zeros, not -inf - -inf
  const double sum = RowSum<T>(width, [&](int64_t i, auto extent) {
    const auto e = Exp(Masked(x, mask, i, extent) - shift);
    Put(scratch + i, extent, e);
    return e;
  });
  const S scale = sum == 0 ? 0 : static_cast<S>(1 / sum);
  ForRow<T>(width, [&](int64_t i, auto extent) { Put(out + i, extent, Get(scratch + i, extent) * scale); });
}

template <class Level, class T>
void SoftmaxBackwardRows(const T* d_out, const T* out, T* d_x, int64_t width, int64_t begin, int64_t end) {
  using S = ComputeType<T>;
  for (int64_t at = begin * width; at < end * width; at += width) {
    const double sum = RowSum<T>(
        width, [&](int64_t i, auto extent) { return Get(d_out + at + i, extent) * Get(out + at + i, extent); });
    if (IsModerate<S>(sum)) {
      const S dot = static_cast<S>(sum);
      ForRow<T>(width, [&](int64_t i, auto extent) {
        Put(d_x + at + i, extent, (Get(d_out + at + i, extent) - dot) * Get(out + at + i, extent));
      });
    } else {
      const S dot = HalfDot<T>(d_out + at, out + at, width);
      ForRow<T>(width, [&](int64_t i, auto extent) {
        const auto half = HalfGradient(d_out + at, out + at, dot, i, extent);
        Put(d_x + at + i, extent, half + half);
      });
    }
  }
}

template <class Level, class T>
void SoftmaxBackwardAddRow(const T* d_out, const T* out, ComputeType<T>* half_sums, int64_t width) {
  const auto dot = HalfDot<T>(d_out, out, width);
  ForRow<T>(width, [&](int64_t i, auto extent) {
    Put(half_sums + i, extent, Get(half_sums + i, extent) + HalfGradient(d_out, out, dot, i, extent));
  });
}

#define KK_INSTANTIATE_MASK(T, Mask) \
  template void SoftmaxRow<KP_VARIANT, T, Mask>(const T*, const Mask*, T*, ComputeType<T>*, int64_t);
#define KK_INSTANTIATE(T)                                                                              \
  KK_INSTANTIATE_MASK(T, void)                                                                         \
  KK_INSTANTIATE_MASK(T, uint8_t)                                                                      \
  KK_INSTANTIATE_MASK(T, T)                                                                            \
  template void SoftmaxBackwardRows<KP_VARIANT, T>(const T*, const T*, T*, int64_t, int64_t, int64_t); \
  template void SoftmaxBackwardAddRow<KP_VARIANT, T>(const T*, const T*, ComputeType<T>*, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)
KK_INSTANTIATE_MASK(Bf16, float)
KK_INSTANTIATE_MASK(F16, float)

}  // namespace kk
