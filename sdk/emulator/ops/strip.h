// 16 rows of a matrix product D = A * B + C, summed as the tensor cores of an H200 do (table_strips.cc). Elements are split into a
// fraction and an exponent, so that all that is summed at once is 32 bits wide. Of numbers that aren't finite, and of other orders: tile.h.
#ifndef KERNPACK_SDK_EMULATOR_OPS_STRIP_H_
#define KERNPACK_SDK_EMULATOR_OPS_STRIP_H_

#include <cstdint>

#include "ops/tile.h"

namespace kernpack::emulator {

constexpr uint32_t kStripRows = 16, kLanesOfStrip = 32;
// Along K, elements are kept by their place in a word: first all that are the first of their word, then the second ones.
constexpr uint32_t kWordsAlongK = 8;

constexpr bool HasStrips(Element element) {
  return element == Element::kHalf || element == Element::kBrain || element == Element::kTf32;
}

// A's rows.
struct StripA {
  alignas(64) float fraction[kMostDepth][kStripRows];
  alignas(64) int32_t exponent[kMostDepth][kStripRows];
  alignas(64) float value[kMostDepth][kStripRows];  // the elements themselves, if the strip is moderate
  bool special = false;  // an element isn't finite
  bool moderate = false;  // all products with moderate numbers can be scaled in f32
};

// Columns of B. Element n of column c is at c * column + n / 4 * four + n % 4.
struct StripB {
  const float* fraction;
  const int32_t* exponent;
  uint32_t column, four;
};

// The registers of C and D, a word for each of 32 lanes: four of f32, two of f16. What `to` lacks isn't written.
struct StripSums {
  Element element;
  const uint32_t* from[4];  // all NULL: zeros
  uint32_t* to[4];
};

struct StripCode {
  // From the registers of mma's A: pairs, the first of which has the upper 8 rows, and the second the lower 8.
  void (*take_a)(const uint32_t* const* registers, uint32_t pairs, Element element, bool negated, StripA* out);
  // From rows of kWordsAlongK words.
  void (*read_a)(const uint32_t* words, Element element, bool negated, StripA* out);
  // Splits `count` words, a multiple of 16, in runs of `each` words: of a run, the first elements of all words come first, then
  // the second ones. True if one isn't finite.
  bool (*split)(const uint32_t* words, uint32_t count, uint32_t each, Element element, bool negated, float* fraction,
                int32_t* exponent);
  // Of 8 columns. False, and nothing is written, if one of C isn't finite.
  bool (*sum)(const StripA& a, const StripB& b, uint32_t depth, const StripSums& sums);
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_OPS_STRIP_H_
