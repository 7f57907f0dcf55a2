// Gradients of attention: plain pointers, compiled once per CPU level.
#pragma once

#include "attention.h"

namespace kk {

constexpr int64_t kBackwardQueries = 64;  // a block of them: the columns of its tiles
constexpr int64_t kBackwardKeys = 120;  // at a time; a multiple of every level's tile
constexpr int64_t kMaskKeys = 128;  // that many as whole vectors of every level

template <class T>
struct AttentionGradientArgs {
  AttentionArgs<T> forward;
  const T *d_out, *out;  // [batch, queries, heads, width]
  const float* lse;  // [batch, heads, queries]
  T* d_q;  // as out

  int64_t blocks() const { return (forward.queries + kBackwardQueries - 1) / kBackwardQueries; }
  int64_t units() const { return forward.shared() * blocks(); }  // of work beside the same keys
};

// One piece of the work: every `step`-th unit of those beside the keys of a group. With masks some units are short, so that
// neighbours go to different pieces.
struct AttentionGradientTask {
  int64_t batch, group, first, step;
};

inline int64_t AttentionGradientScratch(int64_t width) {
  const int64_t padded = PaddedWidth(width);
  const int64_t block = kBackwardQueries * (5 * padded + kBackwardKeys / 2 + 2 * kMaskKeys + 2);
  return block + 2 * kBackwardKeys * (kBackwardQueries + padded);
}

// A part of a mask's gradient: of `count` keys from `key` on, at most kBackwardKeys. What it is summed over: items of the batch,
// heads and blocks of queries, more than one each where the mask is the same for all.
struct AttentionMaskTask {
  int64_t batch, batches, head, heads, block, blocks, key, count;
};

// The gradient of sinks needs no scores: a sink's weight follows from it and the logarithm of the sum.
template <class T>
struct AttentionSinkArgs {
  const T *d_out, *out;  // [batch, queries, heads, width]
  const float* lse;  // [batch, heads, queries]
  const float* sinks;  // [heads]
  int64_t batch, queries, heads, width;
};

template <class Level, class T>
float AttentionSinkGradient(const AttentionSinkArgs<T>& args, int64_t head);

// Writes d_q of the task's queries; d_k and d_v [keys, padded] get what these add to them. Levels: those of Bf16Level.
template <class Level, class T>
void AttentionGradientRun(const AttentionGradientArgs<T>& args, const AttentionGradientTask& task, float* d_k,
                          float* d_v, float* scratch);

// sums[kBackwardQueries, kMaskKeys] of the task, a row for each query of a block; as much memory again behind it is written to.
// args.d_q isn't used.
template <class Level, class T>
void AttentionMaskGradientRun(const AttentionGradientArgs<T>& args, const AttentionMaskTask& task, float* sums,
                              float* scratch);

// out[width] of what `parts` rows of floats, `stride` apart, add up to.
template <class Level, class T>
void AttentionGradientSum(const float* row, int64_t parts, int64_t stride, T* out, int64_t width);

}  // namespace kk
