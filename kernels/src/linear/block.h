// One block of packed weights, 16 rows by 32 columns, in vectors.
#pragma once

#include "../tiles/lanes.h"
#include "packed.h"

namespace kk {
namespace {

constexpr int kGroupVectors = static_cast<int>(kGroupRows) / kLanes;

// The scales and minima of the rows in vector v of a group.
template <PackedFormat F>
struct BlockScales {
  VF d, m;
  BlockScales(const uint8_t* block, int v) {
    using T = PackedTraits<F>;
    const F16* scales = reinterpret_cast<const F16*>(block + T::kValueBytes);
    d = Pack<F16>::Load(scales + v * kLanes);
    m = T::kHasMin ? Pack<F16>::Load(scales + kGroupRows + v * kLanes) : d * static_cast<float>(-T::kOffset);
  }
};

// Word i of the rows in vector v.
inline VU BlockWord(const uint8_t* block, int i, int v) { return LoadBits(block + 4 * (i * kGroupRows + v * kLanes)); }

// Sums of values times activations over a block, `x` being its 32 activations, a word of four each.
template <PackedFormat F>
inline VI BlockProducts(const uint8_t* block, int v, const int8_t* x) {
  const auto activations = [&](int i) {
    int32_t word;
    std::memcpy(&word, x + 4 * i, sizeof word);
    return Splat(word);
  };
  VI a = {}, b = {};
  if constexpr (PackedTraits<F>::kBits == 4) {
    for (int i = 0; i < 4; ++i) {
      const VU word = BlockWord(block, i, v);
      a = AddByteProducts(a, word & 0x0f0f0f0f, activations(i));
      b = AddByteProducts(b, word & 0xf0f0f0f0, activations(4 + i));  // 16 times too much, exactly
    }
    return a + (b >> 4);
  } else {
    for (int i = 0; i < 8; i += 2) {
      a = AddByteProducts(a, BlockWord(block, i, v), activations(i));
      b = AddByteProducts(b, BlockWord(block, i + 1, v), activations(i + 1));
    }
    return a + b;
  }
}

// f(k, value): the values of column k, for each of the 32, as floats.
template <PackedFormat F, class Use>
inline void ForBlockColumns(const uint8_t* block, int v, Use f) {
  if constexpr (PackedTraits<F>::kBits == 4) {
    for (int i = 0; i < 4; ++i) {
      const VU word = BlockWord(block, i, v);
      for (int j = 0; j < 4; ++j) f(4 * i + j, ToFloat((VI)(word >> (8 * j) & 15)));
      for (int j = 0; j < 4; ++j) f(16 + 4 * i + j, ToFloat((VI)(word >> (8 * j + 4) & 15)));
    }
  } else {
    for (int i = 0; i < 8; ++i) {
      const VU word = BlockWord(block, i, v);
      for (int j = 0; j < 4; ++j) f(4 * i + j, ToFloat((VI)(word >> (8 * j) & 255)));
    }
  }
}

}  // namespace
}  // namespace kk
