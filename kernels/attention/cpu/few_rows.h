// Few rows of queries, as in decoding: each key and value is read once, as it lies, and multiplied with all of them. Compiled once per
// CPU level and type of the keys.
#pragma once

#include "attention.h"

namespace kk {

// Where the keys and values of a chunk are, `count` of each.
template <class C>
struct FewKeys {
  const C *const *keys, *const *values;
  int64_t count, width;
};

// scores[rows][kAttentionKeys] of queries [rows, PaddedWidth], whose padding is zeros. What is behind the last key is written to.
// Fetches the values, which are read next.
template <class Level, class C>
void FewScores(const FewKeys<C>& chunk, const float* queries, int64_t rows, float* scores);

// sums[rows, PaddedWidth] += weights[rows][kAttentionKeys] * values.
template <class Level, class C>
void FewValues(const FewKeys<C>& chunk, const float* weights, int64_t rows, float* sums);

}  // namespace kk
