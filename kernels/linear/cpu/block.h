// One block of packed weights, 16 rows by 32 columns, in vectors.
#pragma once

#include "common/cpu/lanes.h"
#include "linear/packed.h"

namespace kk {
namespace {

constexpr int kGroupVectors = static_cast<int>(kGroupRows) / kLanes;

// The scales and minima of the rows in vector v of a group, for each half of the block that has its own.
template <PackedFormat F>
struct BlockScales {
  using T = PackedTraits<F>;
  VF d[T::kHalves], m[T::kHalves];

  BlockScales(const uint8_t* block, const uint8_t* tail, int v) {
    const auto halves = [v](const uint8_t* p) { return Pack<F16>::Load(reinterpret_cast<const F16*>(p) + v * kLanes); };
    const auto floats = [v](const uint8_t* p) {
      VF values;
      std::memcpy(&values, p + 4 * v * kLanes, sizeof values);
      return values;
    };
    const uint8_t* scales = block + T::kValueBytes;
    if constexpr (T::kScales == Scales::kHalf) {
      d[0] = halves(scales), m[0] = d[0] * static_cast<float>(-T::kOffset);
    } else if constexpr (T::kScales == Scales::kHalfMin) {
      d[0] = halves(scales), m[0] = halves(scales + 2 * kGroupRows);
    } else if constexpr (T::kScales == Scales::kQ4K) {
      d[0] = halves(tail) * ToFloat(LoadBytes(scales + v * kLanes));
      m[0] = halves(tail + 2 * kGroupRows) * -ToFloat(LoadBytes(scales + kGroupRows + v * kLanes));
    } else if constexpr (T::kScales == Scales::kQ6K) {
      for (int half = 0; half < 2; ++half) {
        d[half] =
            halves(tail) * ToFloat(LoadBytes(reinterpret_cast<const int8_t*>(scales) + half * kGroupRows + v * kLanes));
        m[half] = d[half] * static_cast<float>(-T::kOffset);
      }
    } else {
      d[0] = floats(tail), m[0] = floats(tail + 4 * kGroupRows);
    }
  }

  // The weight of column k from its value.
  VF Weight(int k, VF value) const {
    const int half = T::kHalves == 2 ? k / 16 : 0;
    return value * d[half] + m[half];
  }
};

// Asks for the block that lies `ahead` bytes behind this one.
template <PackedFormat F>
inline void FetchBlock(const uint8_t* block, int64_t ahead) {
  for (int64_t line = 0; line < PackedTraits<F>::kBlockBytes; line += 64) Prefetch(block + ahead + line);
}

// Word i of the rows in vector v, as it lies.
inline VU BlockWord(const uint8_t* block, int i, int v) { return LoadBits(block + 4 * (i * kGroupRows + v * kLanes)); }

// The values of columns [4 i, 4 i + 4), a byte each.
template <PackedFormat F>
inline VU ByteWord(const uint8_t* block, int i, int v) {
  if constexpr (PackedTraits<F>::kBits == 8) return BlockWord(block, i, v);
  const VU word = BlockWord(block, i % 4, v);
  const VU low = (i < 4 ? word : word >> 4) & 0x0f0f0f0f;
  if constexpr (PackedTraits<F>::kBits == 4) return low;
  const VU high = BlockWord(block, 4 + i / 4, v);
  const int at = 2 * (i % 4);
  return low | ((at < 4 ? high << (4 - at) : high >> (at - 4)) & 0x30303030);
}

// f(k, value): the values of column k, for each of the 32, as floats. Columns k and k + 1 come after each other where k is even.
template <PackedFormat F, class Use>
inline void ForBlockColumns(const uint8_t* block, int v, Use f) {
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const VU word = ByteWord<F>(block, i, v);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) f(4 * i + j, ToFloat((VI)(word >> (8 * j) & 255)));
  }
}

}  // namespace
}  // namespace kk
