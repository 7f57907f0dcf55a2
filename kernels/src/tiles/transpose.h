// Square blocks of vectors, rows for columns.
#pragma once

#include <utility>

#include "lanes.h"

namespace kk {
namespace {

// Lanes of a and b by turns: those of their lower, or upper, halves.
template <size_t... I>
inline VF InterleaveLow(VF a, VF b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (I % 2 ? kLanes + I / 2 : I / 2)...);
}
template <size_t... I>
inline VF InterleaveHigh(VF a, VF b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, ((I % 2 ? kLanes + I / 2 : I / 2) + kLanes / 2)...);
}
inline VF InterleaveLow(VF a, VF b) { return InterleaveLow(a, b, std::make_index_sequence<kLanes>()); }
inline VF InterleaveHigh(VF a, VF b) { return InterleaveHigh(a, b, std::make_index_sequence<kLanes>()); }

// Every second lane of a and b: the inverse.
template <size_t... I>
inline VF EvenLanes(VF a, VF b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (2 * I)...);
}
template <size_t... I>
inline VF OddLanes(VF a, VF b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (2 * I + 1)...);
}
inline VF EvenLanes(VF a, VF b) { return EvenLanes(a, b, std::make_index_sequence<kLanes>()); }
inline VF OddLanes(VF a, VF b) { return OddLanes(a, b, std::make_index_sequence<kLanes>()); }

// The lanes of each of kLanes vectors combined, a lane each.
template <class Combine>
inline VF FoldEach(VF (&rows)[kLanes], Combine combine) {
  for (int count = kLanes; count > 1; count /= 2) {
    for (int i = 0; i < count / 2; ++i) {
      const VF a = rows[i], b = rows[i + count / 2];
      rows[i] = combine(InterleaveLow(a, b), InterleaveHigh(a, b));
    }
  }
  return rows[0];
}
inline VF SumEach(VF (&rows)[kLanes]) {
  return FoldEach(rows, [](VF a, VF b) { return a + b; });
}
inline VF MaxEach(VF (&rows)[kLanes]) {
  return FoldEach(rows, [](VF a, VF b) { return Max(a, b); });
}

// Each round moves one bit of the row's number to the lane's, and one back; log2(kLanes) rounds exchange them.
inline void Transpose(VF (&rows)[kLanes]) {
  for (int bit = 1; bit < kLanes; bit *= 2) {
    VF next[kLanes];
    for (int i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = InterleaveLow(rows[i], rows[i + kLanes / 2]);
      next[2 * i + 1] = InterleaveHigh(rows[i], rows[i + kLanes / 2]);
    }
    for (int i = 0; i < kLanes; ++i) rows[i] = next[i];
  }
}

// to[column][row] = from[row][column]; both sizes are multiples of kLanes.
inline void TransposeMatrix(const float* from, int64_t rows, int64_t columns, float* to) {
  for (int64_t r = 0; r < rows; r += kLanes) {
    for (int64_t c = 0; c < columns; c += kLanes) {
      VF block[kLanes];
      for (int i = 0; i < kLanes; ++i) block[i] = Pack<float>::Load(from + (r + i) * columns + c);
      Transpose(block);
      for (int i = 0; i < kLanes; ++i) Pack<float>::Store(to + (c + i) * rows + r, block[i]);
    }
  }
}

}  // namespace
}  // namespace kk
