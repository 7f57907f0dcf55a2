// Activations, made ready for each way to compute a product.
#include <cmath>

#include "common/cpu/row.h"
#include "integer_products.h"

namespace kk {
namespace {

// The block from `at` on as integers: x is scale * integer, within half a step. What isn't finite makes the scale a NaN. The sum is that of what the
// bytes stand for, not of x: what values are moved by then cancels exactly.
template <class T>
void BlockToIntegers(const T* x, const Activations& to, int64_t at) {
  float values[kBlockColumns];
  for (int64_t i = 0; i < kBlockColumns; i += kLanes) Pack<float>::Store(values + i, Pack<T>::Load(x + at + i));
  const float largest =
      RowMax<float>(kBlockColumns, [&](int64_t i, auto extent) { return Abs(Get(values + i, extent)); });
  const double total = RowSum<float>(kBlockColumns, [&](int64_t i, auto extent) { return Get(values + i, extent); });
  const int32_t most = to.compute == LinearCompute::kInt16 ? 127 * kHighByte : 127;
  const float scale = std::isfinite(total) && largest < INFINITY ? largest / static_cast<float>(most) : NAN;
  const float inverse = scale > 1e-36f ? 1 / scale : 0;  // false for a NaN too; what is smaller counts as zero
  int32_t integer_sums[2] = {};
  for (int64_t i = 0; i < kBlockColumns; ++i) {
    const int32_t number = inverse > 0 ? static_cast<int32_t>(std::lrint(values[i] * inverse)) : 0;
    integer_sums[i / (kBlockColumns / 2)] += number;
    if (to.words) {
      to.words[at + WordPlace(i)] = static_cast<int16_t>(number);
      continue;
    }
    const int32_t high = to.low_bytes ? (number + kHighByte / 2) >> 7 : number;
    to.bytes[at + i] = static_cast<int8_t>(high);
    if (to.low_bytes) to.low_bytes[at + i] = static_cast<int8_t>(number - kHighByte * high);
  }
  const int64_t block = at / kBlockColumns;
  to.scales[block] = scale;
  to.sums[block] = static_cast<float>(integer_sums[0] + integer_sums[1]) * scale;
  for (int half = 0; half < 2; ++half) to.half_sums[2 * block + half] = static_cast<float>(integer_sums[half]) * scale;
}

}  // namespace

template <class Level>
LinearCompute LinearChoice<Level>::Automatic(int64_t rows) {
  // Where bytes are multiplied at once, integers are nearly as quick as pairs of bf16, and quicker than floats; in two steps as quick.
#if defined(__aarch64__) || defined(__AMX_BF16__)
  constexpr int64_t kRows = 4;
#else
  constexpr int64_t kRows = kHasBf16Products ? 16 : kBytes == 32 && !kHasByteProducts ? 8 : INT64_MAX;
#endif
  if (rows <= kRows) return LinearCompute::kInt16;
  return kHasBf16Products ? LinearCompute::kBf16 : LinearCompute::kFloat;
}

template <class Level>
bool LinearChoice<Level>::Words(PackedFormat format) {
  bool words = false;
  DispatchFormat(format, [&](auto known) { words = kUsesWords<decltype(known)::value>; });
  return words;
}
template struct LinearChoice<KP_VARIANT>;

template <class Level, class T>
void PrepareActivations(const T* x, const Activations& to, int64_t begin, int64_t end) {
  const int64_t columns = to.columns;
  if (to.compute == LinearCompute::kInt8 || to.compute == LinearCompute::kInt16) {
    for (int64_t at = begin * columns; at < end * columns; at += kBlockColumns) BlockToIntegers(x, to, at);
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
