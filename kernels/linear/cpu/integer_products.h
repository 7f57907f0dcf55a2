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

// Of the rows in a vector of a group, the 32 values of a block: byte j of word i is that of column 4 i + j.
struct BlockBytes {
  VU words[8];
};

template <PackedFormat F>
inline BlockBytes ReadBlockBytes(const uint8_t* block, int v) {
  BlockBytes bytes;
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) bytes.words[i] = ByteWord<F>(block, i, v);
  return bytes;
}

// sums[half] of values times activations over each half of a block, or in sums[0] over all of it, `x` being its 32
// activations. For a level with an instruction for four bytes.
template <PackedFormat F>
inline void FourByteProducts(const BlockBytes& values, const int8_t* x, VI (&sums)[PackedTraits<F>::kHalves]) {
  constexpr auto add = PackedTraits<F>::kBits == 8 ? AddByteProducts : AddSmallByteProducts;
  VI a = {}, b = {};
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    a = add(a, values.words[i], FourActivations(x, i));
    b = add(b, values.words[4 + i], FourActivations(x, 4 + i));
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
inline void TwoByteProducts(const BlockBytes& values, const int8_t* x, VI (&sums)[PackedTraits<F>::kHalves]) {
  const VS ones = 1 - VS{};
  const auto products = [&](int i) { return BytePairProducts(values.words[i], FourActivations(x, i)); };
  if constexpr (PackedTraits<F>::kBits == 4) {
    VS sum = {};
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) sum += products(i);
    sums[0] = PairProducts(sum, ones);
  } else {
    const auto both = [&](int i) { return PairProducts(products(i) + products(i + 1), ones); };
    sums[0] = both(0) + both(2);
    sums[1] = both(4) + both(6);
  }
}

// The same of values of 8 bits and activations of 16, which lie in the order of WordPlace.
template <PackedFormat F>
inline void WordProducts(const BlockBytes& values, const int16_t* x, VI (&sums)[PackedTraits<F>::kHalves]) {
  typedef uint16_t VUS __attribute__((vector_size(kBytes)));
  const auto pair = [x](int i) {
    int32_t word;
    std::memcpy(&word, x + 2 * i, sizeof word);
    return (VS)Splat(word);
  };
  VI a = {}, b = {};
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    const VU word = values.words[i];
    a += PairProducts((VS)(word & 0x00ff00ff), pair(2 * i));
    b += PairProducts((VS)((VUS)word >> 8), pair(2 * i + 1));
  }
  sums[0] = a + b;
}

// True if activations are made for WordProducts.
template <PackedFormat F>
constexpr bool kUsesWords = !kHasByteProducts && PackedTraits<F>::kBits == 8;

// Adds up kHighByte * high + low where there are two bytes to an activation.
template <PackedFormat F, bool kTwoBytes>
inline void ByteProducts(const BlockBytes& values, const int8_t* high, const int8_t* low,
                         VI (&sums)[PackedTraits<F>::kHalves]) {
  constexpr auto products = kHasByteProducts ? FourByteProducts<F> : TwoByteProducts<F>;
  products(values, high, sums);
  if constexpr (!kTwoBytes) return;
  VI low_sums[PackedTraits<F>::kHalves];
  products(values, low, low_sums);
  for (int half = 0; half < PackedTraits<F>::kHalves; ++half) sums[half] = sums[half] * kHighByte + low_sums[half];
}

// Where a level that uses words keeps activation i: of four, those of the even columns come first.
constexpr int64_t WordPlace(int64_t i) { return (i & ~3) | (i & 1) << 1 | (i & 2) >> 1; }

}  // namespace
}  // namespace kk
