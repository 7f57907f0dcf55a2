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

// Vectors that are folded side by side.
template <int kSides>
struct Sides {
  VF of[kSides];
};

// The lower, or the upper, halves of pairs (kCount 2), of fours (4), or of their neighbours (more) of a and b, those of a first:
// instructions that move nothing farther than they must.
template <int kCount, int kUpper>
constexpr size_t GetHalf(size_t i) {
  constexpr size_t lanes = kLanes, up = kUpper;
  const size_t quad = i / 4, j = i % 4;
  if constexpr (kCount == 2) {
    return (j % 2 ? lanes : 0) + quad * 4 + j / 2 + 2 * up;
  } else if constexpr (kCount == 4) {
    return (j < 2 ? 0 : lanes) + quad * 4 + j % 2 + 2 * up;
  } else {
    return (quad < lanes / 8 ? 0 : lanes) + (quad % (lanes / 8) * 2 + up) * 4 + j;
  }
}
template <int kCount, int kUpper, size_t... I>
inline VF Halves(VF a, VF b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, static_cast<int>(GetHalf<kCount, kUpper>(I))...);
}

// Lane i of each side: the lanes of what leaf(first + i) has there, combined; for kCount leaves. kFolded: so many neighbours of a leaf's
// lanes are those of as many vectors, folded before.
template <int kSides, int kCount, int kFolded = 1, class Leaf, class Combine>
inline __attribute__((always_inline)) Sides<kSides> Fold(int first, const Leaf& leaf, const Combine& combine) {
  if constexpr (kCount == 1) {
    return leaf(first);
  } else {
    constexpr auto lanes = std::make_index_sequence<kLanes>();
    constexpr int kNow = kCount * kFolded;
    const Sides<kSides> a = Fold<kSides, kCount / 2, kFolded>(first, leaf, combine);
    const Sides<kSides> b = Fold<kSides, kCount / 2, kFolded>(first + kCount / 2, leaf, combine);
    Sides<kSides> out;
    for (int s = 0; s < kSides; ++s) {
      out.of[s] = combine(Halves<kNow, 0>(a.of[s], b.of[s], lanes), Halves<kNow, 1>(a.of[s], b.of[s], lanes));
    }
    return out;
  }
}

// The lanes of each of kLanes vectors combined, a lane each.
template <class Combine>
inline VF FoldEach(VF (&rows)[kLanes], Combine combine) {
  return Fold<1, kLanes>(0, [&](int i) { return Sides<1>{{rows[i]}}; }, combine).of[0];
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
