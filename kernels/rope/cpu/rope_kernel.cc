// Rotary position embedding of the heads of one position.
#include "rope.h"

#include "common/cpu/row.h"
#include "common/cpu/transpose.h"

namespace kk {
namespace {

template <class T>
void RotateHalves(const RopeRow& row, const T* x, T* out) {
  ForRow<T>(row.pairs, [&](int64_t i, auto extent) {
    const VF a = Get(x + i, extent), b = Get(x + row.pairs + i, extent);
    const VF c = Get(row.cos + i, extent), s = Get(row.sin + i, extent) * row.sign;
    Put(out + i, extent, a * c - b * s);
    Put(out + row.pairs + i, extent, b * c + a * s);
  });
}

// The pairs [i, i + kLanes) of neighbours.
template <class T>
inline void RotateNeighbours(VF c, VF s, const T* x, T* out) {
  const VF low = Pack<T>::Load(x), high = Pack<T>::Load(x + kLanes);
  const VF a = EvenLanes(low, high), b = OddLanes(low, high);
  const VF first = a * c - b * s, second = b * c + a * s;
  Pack<T>::Store(out, InterleaveLow(first, second));
  Pack<T>::Store(out + kLanes, InterleaveHigh(first, second));
}

template <class T>
void RotateInterleaved(const RopeRow& row, const T* x, T* out) {
  int64_t i = 0;
  for (; i + kLanes <= row.pairs; i += kLanes) {
    RotateNeighbours(Get(row.cos + i, Whole{}), Get(row.sin + i, Whole{}) * row.sign, x + 2 * i, out + 2 * i);
  }
  const int rest = static_cast<int>(row.pairs - i);
  if (rest == 0) return;
  T padded[2 * kLanes] = {};
  for (int j = 0; j < 2 * rest; ++j) padded[j] = x[2 * i + j];
  RotateNeighbours(Get(row.cos + i, Part{rest}), Get(row.sin + i, Part{rest}) * row.sign, padded, padded);
  for (int j = 0; j < 2 * rest; ++j) out[2 * i + j] = padded[j];
}

// f64 is for checking gradients: one pair at a time.
void Rotate(const RopeRow& row, const double* x, double* out) {
  for (int64_t i = 0; i < row.pairs; ++i) {
    const int64_t at = row.interleaved ? 2 * i : i, other = row.interleaved ? 2 * i + 1 : row.pairs + i;
    const double c = row.cos[i], s = row.sin[i] * static_cast<double>(row.sign), a = x[at], b = x[other];
    out[at] = a * c - b * s;
    out[other] = b * c + a * s;
  }
}

template <class T>
void Rotate(const RopeRow& row, const T* x, T* out) {
  row.interleaved ? RotateInterleaved(row, x, out) : RotateHalves(row, x, out);
}

}  // namespace

template <class Level, class T>
void Rope(const RopeRow& row, int64_t heads, const T* x, int64_t x_stride, T* out, int64_t out_stride) {
  for (int64_t h = 0; h < heads; ++h, x += x_stride, out += out_stride) {
    Rotate(row, x, out);
    if (out == x) continue;
    for (int64_t i = 2 * row.pairs; i < row.width; ++i) out[i] = x[i];
  }
}

#define KK_INSTANTIATE(T) template void Rope<KP_VARIANT, T>(const RopeRow&, int64_t, const T*, int64_t, T*, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
