// Activations, made ready for each way to compute a product.
#include <cmath>

#include "../rows/row.h"
#include "../tiles/lanes.h"
#include "linear.h"

namespace kk {
namespace {

// A block as bytes: x is scale * byte (two bytes where there are low ones), within half a step. What isn't finite makes the scale a NaN. The sum is that of what the
// bytes stand for, not of x: what values are moved by then cancels exactly.
template <class T>
void BlockToBytes(const T* x, int8_t* bytes, int8_t* low, float* scale, float* half_sums) {
  float values[kBlockColumns];
  for (int64_t i = 0; i < kBlockColumns; i += kLanes) Pack<float>::Store(values + i, Pack<T>::Load(x + i));
  const float largest =
      RowMax<float>(kBlockColumns, [&](int64_t i, auto extent) { return Abs(Get(values + i, extent)); });
  const double total = RowSum<float>(kBlockColumns, [&](int64_t i, auto extent) { return Get(values + i, extent); });
  *scale = std::isfinite(total) && largest < INFINITY ? largest / static_cast<float>(low ? 127 * kHighByte : 127) : NAN;
  const float inverse = *scale > 1e-36f ? 1 / *scale : 0;  // false for a NaN too; what is smaller counts as zero
  int32_t byte_sums[2] = {};
  for (int64_t i = 0; i < kBlockColumns; ++i) {
    const int32_t number = inverse > 0 ? static_cast<int32_t>(std::lrint(values[i] * inverse)) : 0;
    byte_sums[i / (kBlockColumns / 2)] += number;
    const int32_t high = low ? (number + kHighByte / 2) >> 7 : number;
    bytes[i] = static_cast<int8_t>(high);
    if (low) low[i] = static_cast<int8_t>(number - kHighByte * high);
  }
  for (int half = 0; half < 2; ++half) half_sums[half] = static_cast<float>(byte_sums[half]) * *scale;
}

}  // namespace

template <class Level>
LinearCompute LinearChoice<Level>::Automatic(int64_t rows) {
  if (rows <= 4) return LinearCompute::kInt16;
  return kHasBf16Products ? LinearCompute::kBf16 : LinearCompute::kFloat;
}
template struct LinearChoice<KP_VARIANT>;

template <class Level, class T>
void PrepareActivations(const T* x, const Activations& to, int64_t begin, int64_t end) {
  const int64_t columns = to.columns, blocks = columns / kBlockColumns;
  if (to.compute == LinearCompute::kInt8 || to.compute == LinearCompute::kInt16) {
    for (int64_t b = begin * blocks; b < end * blocks; ++b) {
      const int64_t at = b * kBlockColumns;
      BlockToBytes(x + at, to.bytes + at, to.low_bytes ? to.low_bytes + at : nullptr, to.scales + b, to.sums + 2 * b);
    }
  } else if (to.compute == LinearCompute::kFloat) {
    for (int64_t at = begin * columns; at < end * columns; at += kLanes) {
      Pack<float>::Store(to.floats + at, Pack<T>::Load(x + at));
    }
  } else {
    auto* halves = reinterpret_cast<Bf16*>(to.halves);
    for (int64_t at = begin * columns; at < end * columns; at += kLanes) {
      Pack<Bf16>::Store(halves + at, Pack<T>::Load(x + at));
    }
  }
}

#define KK_INSTANTIATE(T) \
  template void PrepareActivations<KP_VARIANT, T>(const T*, const Activations&, int64_t, int64_t);
KK_LINEAR_TYPES(KK_INSTANTIATE)

}  // namespace kk
