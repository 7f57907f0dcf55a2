// Sums of products of a block's values with integer activations. The same integers on every CPU level.
#pragma once

#include "block.h"
#include "linear.h"

namespace kk {
namespace {

// Four activations, a byte each, in every lane.
inline VI FourActivations(const int8_t* x, int i) {
  int32_t word;
  std::memcpy(&word, x + 4 * i, sizeof word);
  return Splat(word);
}

// sums[half] of values times activations over each half of a block, or in sums[0] over all of it, `x` being its 32
// activations. For a level with an instruction for four bytes.
template <PackedFormat F>
inline void FourByteProducts(const uint8_t* block, int v, const int8_t* x, VI (&sums)[PackedTraits<F>::kHalves]) {
  VI a = {}, b = {};
  if constexpr (PackedTraits<F>::kBits == 4) {
    for (int i = 0; i < 4; ++i) {
      const VU word = BlockWord(block, i, v);
      a = AddSmallByteProducts(a, word & 0x0f0f0f0f, FourActivations(x, i));
      if constexpr (kHasSmallByteProductsOnly) {
        b = AddSmallByteProducts(b, word >> 4 & 0x0f0f0f0f, FourActivations(x, 4 + i));
      } else {
        b = AddByteProducts(b, word & 0xf0f0f0f0, FourActivations(x, 4 + i));  // 16 times too much, exactly
      }
    }
    if constexpr (!kHasSmallByteProductsOnly) b = b >> 4;
  } else if constexpr (PackedTraits<F>::kBits == 6) {
    for (int i = 0; i < 4; ++i) {
      a = AddSmallByteProducts(a, ByteWord<F>(block, i, v), FourActivations(x, i));
      b = AddSmallByteProducts(b, ByteWord<F>(block, i + 4, v), FourActivations(x, i + 4));
    }
  } else {
    for (int i = 0; i < 4; ++i) {
      a = AddByteProducts(a, ByteWord<F>(block, i, v), FourActivations(x, i));
      b = AddByteProducts(b, ByteWord<F>(block, i + 4, v), FourActivations(x, i + 4));
    }
  }
  if constexpr (PackedTraits<F>::kHalves == 2) {
    sums[0] = a, sums[1] = b;
  } else {
    sums[0] = a + b;
  }
}

// The same by products of two bytes, for values of 4 or 6 bits. Activations are within 127, so that 8 products with 15 or 2
// with 63 stay in 16 bits.
template <PackedFormat F>
inline void TwoByteProducts(const uint8_t* block, int v, const int8_t* x, VI (&sums)[PackedTraits<F>::kHalves]) {
  const VS ones = 1 - VS{};
  if constexpr (PackedTraits<F>::kBits == 4) {
    VS sum = {};
    for (int i = 0; i < 4; ++i) {
      const VU word = BlockWord(block, i, v);
      sum += BytePairProducts(word & 0x0f0f0f0f, FourActivations(x, i));
      sum += BytePairProducts(word >> 4 & 0x0f0f0f0f, FourActivations(x, 4 + i));
    }
    sums[0] = PairProducts(sum, ones);
  } else {
    VS pair[4];
    for (int i = 0; i < 4; ++i) {
      pair[i] = BytePairProducts(ByteWord<F>(block, 2 * i, v), FourActivations(x, 2 * i)) +
                BytePairProducts(ByteWord<F>(block, 2 * i + 1, v), FourActivations(x, 2 * i + 1));
    }
    sums[0] = PairProducts(pair[0], ones) + PairProducts(pair[1], ones);
    sums[1] = PairProducts(pair[2], ones) + PairProducts(pair[3], ones);
  }
}

// The same of values of 8 bits and activations of 16, which lie in the order of WordPlace.
template <PackedFormat F>
inline void WordProducts(const uint8_t* block, int v, const int16_t* x, VI (&sums)[PackedTraits<F>::kHalves]) {
  typedef uint16_t VUS __attribute__((vector_size(kBytes)));
  const auto pair = [x](int i) {
    int32_t word;
    std::memcpy(&word, x + 2 * i, sizeof word);
    return (VS)Splat(word);
  };
  VI a = {}, b = {};
  for (int i = 0; i < 8; ++i) {
    const VU word = BlockWord(block, i, v);
    a += PairProducts((VS)(word & 0x00ff00ff), pair(2 * i));
    b += PairProducts((VS)((VUS)word >> 8), pair(2 * i + 1));
  }
  sums[0] = a + b;
}

// Whether activations are made for WordProducts.
template <PackedFormat F>
constexpr bool kUsesWords = !kHasByteProducts && PackedTraits<F>::kBits == 8;

// Adds up kHighByte * high + low where there are two bytes to an activation.
template <PackedFormat F, bool kTwoBytes>
inline void ByteProducts(const uint8_t* block, int v, const int8_t* high, const int8_t* low,
                         VI (&sums)[PackedTraits<F>::kHalves]) {
  constexpr auto products = kHasByteProducts ? FourByteProducts<F> : TwoByteProducts<F>;
  products(block, v, high, sums);
  if constexpr (!kTwoBytes) return;
  VI low_sums[PackedTraits<F>::kHalves];
  products(block, v, low, low_sums);
  for (int half = 0; half < PackedTraits<F>::kHalves; ++half) sums[half] = sums[half] * kHighByte + low_sums[half];
}

// Where a level that uses words keeps activation i: of four, those of the even columns come first.
constexpr int64_t WordPlace(int64_t i) { return (i & ~3) | (i & 1) << 1 | (i & 2) >> 1; }

}  // namespace
}  // namespace kk
