// Cross-entropy of logits that are never in memory as a whole, x weight^T: plain pointers, compiled once per CPU level.
#pragma once

#include "common/cpu/padded.h"
#include "cross_entropy.h"

namespace kk {

constexpr int64_t kFusedTokens = 64;  // a block of them: the columns of its tiles
constexpr int64_t kFusedClasses = 120;  // at a time; a multiple of every level's tile

inline int64_t FusedBlocks(int64_t tokens) { return (tokens + kFusedTokens - 1) / kFusedTokens; }

template <class T>
struct FusedArgs {
  const T* weight;  // [classes, width]
  int64_t width, tokens;
  const float *rows,
      *columns;  // [blocks, kFusedTokens * padded]: x of the tokens, and its transpose, as FusedPack packs them
  const int64_t* targets;  // [tokens]
  CrossEntropyOptions options;

  int64_t blocks() const { return FusedBlocks(tokens); }
  int64_t block_size() const { return kFusedTokens * PaddedWidth(width); }
};

// The state of tokens, [blocks * kFusedTokens] each, after some of the classes.
struct FusedState {
  float *largest, *total, *sum;  // total: of exp(logit - largest); sum: of logits, where they are smoothed
};

// The share of a class's logit in a token's gradient, see CrossEntropySlope; zeros, and an lse of inf, beyond the last token.
struct FusedSlopes {
  const float *lse, *weight, *all, *target;
};

inline int64_t FusedScratch(int64_t width) {
  return kFusedClasses * (kFusedTokens + kFusedTokens / 2 + 2 * PaddedWidth(width));
}

// A block's operands: its rows, `count` of them, are x[index[i]]. Levels: those of Bf16Level.
template <class Level, class T>
void FusedPack(const T* x, const int64_t* index, int64_t count, int64_t width, float* rows, float* columns);

// The classes [first, last) beside all tokens. `targets` gets the logits of targets that are among them.
template <class Level, class T>
void FusedForward(const FusedArgs<T>& args, int64_t first, int64_t last, const FusedState& state, float* targets,
                  float* scratch);

// Writes d_weight of these classes, and what they add to d_x, [blocks, kFusedTokens, padded].
template <class Level, class T>
void FusedBackward(const FusedArgs<T>& args, int64_t first, int64_t last, const FusedSlopes& slopes, float* d_x,
                   T* d_weight, float* scratch);

// A block's rows of d_x, `count` of them, to d_x[index[i]]: the sums of `parts`, `stride` floats apart.
template <class Level, class T>
void FusedUnpack(const float* parts_of_block, int64_t parts, int64_t stride, const int64_t* index, int64_t count,
                 int64_t width, T* d_x);

}  // namespace kk
