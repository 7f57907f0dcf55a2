// The products of a fused cross-entropy, of floats or of bf16 pairs: how their operands lie. Logits and slopes have a row per class,
// so that no product needs a transposed matrix of them.
#pragma once

#include "common/cpu/float_rows.h"
#include "common/cpu/pairs.h"
#include "common/cpu/tile.h"
#include "common/cpu/transpose.h"
#include "fused.h"

namespace kk {
namespace {

constexpr int64_t kT = kFusedTokens;
constexpr int64_t kDepth = 192;  // steps of a product whose panel stays in the caches

// Members of both products: a chunk of classes beside blocks of tokens.
struct FusedChunk {
  int64_t width, count = 0;  // of classes
  int64_t padded() const { return PaddedWidth(width); }
  int64_t vectors() const { return (width + kLanes - 1) / kLanes * kLanes; }
};

// c[count][kT] of rows of A beside a block's columns.
template <class Steps>
void MultiplyByDepth(int64_t count, const typename Steps::Item* a, int64_t stride, const typename Steps::Item* columns,
                     int64_t steps, float* c) {
  if (steps == 0) std::fill(c, c + count * kT, 0.0f);
  for (int64_t k = 0; k < steps; k += kDepth) {
    Multiply<Steps>(count, kT, a + k, stride, columns + k * kT, kT, std::min(kDepth, steps - k), c, kT, k > 0);
  }
}

// Computed in f32, for any type. `memory` [kFusedClasses, padded].
template <class T>
class FusedFloats : FusedChunk {
 public:
  FusedFloats(int64_t width, float* memory) : FusedChunk{width}, memory_(memory) {}

  // A block's operands: rows [kT, padded] of x[index[i]], zeros beyond `rows`, and their transpose.
  static void PackBlock(const T* x, const int64_t* index, int64_t rows, int64_t width, float* to, float* columns) {
    const int64_t padded = PaddedWidth(width);
    std::fill(to, to + kT * padded, 0.0f);
    for (int64_t i = 0; i < rows; ++i) {
      ForRow<T>(width, [&](int64_t d, auto extent) {
        Put(to + i * padded + d, extent, Get(x + index[i] * width + d, extent));
      });
    }
    TransposeMatrix(to, kT, padded, columns);
  }

  void SetClasses(const T* weight, int64_t classes, bool backward) {
    count = classes;
    if (backward) {
      const FloatRows<T, true> whole(weight, width, count, width, memory_);
      rows_ = whole.data, stride_ = whole.stride;
    } else {
      const FloatRows<T> rows(weight, width, count, width, memory_);
      rows_ = rows.data, stride_ = rows.stride;
    }
  }

  void Logits(const float* columns, float* logits) const {
    MultiplyByDepth<FloatSteps>(count, rows_, stride_, columns, width, logits);
  }

  // (+)= the classes' d_weight [count, padded], += the block's d_x [kT, padded]. Slopes [count, kT] are changed.
  void Add(float* slopes, const float* x_rows, int64_t tokens, bool add, float* d_weight, float* d_x) const {
    Multiply<FloatSteps>(count, vectors(), slopes, kT, x_rows, padded(), tokens, d_weight, padded(), add);
    Multiply<TransposedFloatSteps>(tokens, vectors(), slopes, kT, rows_, stride_, count, d_x, padded(), true);
  }

 private:
  float* memory_;
  const float* rows_ = nullptr;
  int64_t stride_ = 0;
};

// Products of bf16 values, sums in f32; slopes are rounded to bf16. `memory` as above and [kFusedClasses / 2, kT] behind it.
class FusedPairs : FusedChunk {
 public:
  FusedPairs(int64_t width, float* memory)
      : FusedChunk{width},
        copies_(reinterpret_cast<uint32_t*>(memory)),
        by_turns_(copies_ + kFusedClasses * padded() / 2),
        slope_pairs_(by_turns_ + kFusedClasses * padded() / 2) {}

  // Rows by turns [kT / 2, padded] and columns [padded / 2, kT].
  static void PackBlock(const Bf16* x, const int64_t* index, int64_t rows, int64_t width, float* to, float* columns) {
    const int64_t padded = PaddedWidth(width), pairs = kT * padded / 2;
    auto *by_turns = reinterpret_cast<uint32_t*>(to), *across = reinterpret_cast<uint32_t*>(columns);
    auto* const copy = reinterpret_cast<Bf16*>(by_turns + pairs);
    for (int64_t i = 0; i < rows; ++i) {
      std::memcpy(copy + i * padded, x + index[i] * width, static_cast<size_t>(width) * sizeof(Bf16));
    }
    std::fill(by_turns, by_turns + pairs, 0u), std::fill(across, across + pairs, 0u);
    InterleaveRows(copy, padded, rows, width, by_turns, padded);
    TransposePairs(copy, padded, rows, width, across, kT);
  }

  void SetClasses(const Bf16* weight, int64_t classes, bool backward) {
    count = classes;
    rows_ = reinterpret_cast<const uint32_t*>(weight), stride_ = width / 2;
    if (width % 2 != 0) {
      rows_ = copies_, stride_ = (width + 1) / 2;
      auto* to = reinterpret_cast<Bf16*>(copies_);
      for (int64_t j = 0; j < count; ++j) CopyPadded(weight + j * width, width, width + 1, to + j * (width + 1));
    }
    if (backward) InterleaveRows(weight, width, count, width, by_turns_, padded());
  }

  void Logits(const float* columns, float* logits) const {
    MultiplyByDepth<PairSteps>(count, rows_, stride_, reinterpret_cast<const uint32_t*>(columns), (width + 1) / 2,
                               logits);
  }

  void Add(float* slopes, const float* x_rows, int64_t tokens, bool add, float* d_weight, float* d_x) const {
    for (int64_t j = 0; j < count; j += 2) {
      float *first = slopes + j * kT, *second = first + kT;
      if (j + 1 == count) std::fill(second, second + kT, 0.0f);
      for (int64_t i = 0; i < kT; i += 2 * kLanes) {
        const VF a[2] = {Pack<float>::Load(first + i), Pack<float>::Load(first + i + kLanes)};
        const VF b[2] = {Pack<float>::Load(second + i), Pack<float>::Load(second + i + kLanes)};
        for (int v = 0; v < 2; ++v) {
          const VU pairs = Bf16Pairs(a[v], b[v]);
          std::memcpy(slope_pairs_ + j / 2 * kT + i + v * kLanes, &pairs, sizeof pairs);
        }
        StoreBf16(reinterpret_cast<Bf16*>(first) + i, a[0], a[1]);  // before the slopes that are read next
        StoreBf16(reinterpret_cast<Bf16*>(second) + i, b[0], b[1]);
      }
    }
    Multiply<PairSteps>(count, vectors(), reinterpret_cast<const uint32_t*>(slopes), kT,
                        reinterpret_cast<const uint32_t*>(x_rows), padded(), (tokens + 1) / 2, d_weight, padded(), add);
    Multiply<TransposedPairSteps>(tokens, vectors(), slope_pairs_, kT, by_turns_, padded(), (count + 1) / 2, d_x,
                                  padded(), true);
  }

 private:
  uint32_t *copies_, *by_turns_, *slope_pairs_;
  const uint32_t* rows_ = nullptr;
  int64_t stride_ = 0;
};

template <class T>
using FusedProducts = std::conditional_t<std::is_same_v<T, Bf16> && kHasBf16Products, FusedPairs, FusedFloats<T>>;

}  // namespace
}  // namespace kk
