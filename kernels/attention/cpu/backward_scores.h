// The scores of a block of queries beside keys, in the backward pass: weights again, and what the gradient of a weight makes of the
// score's. A row per key, so that what a query has one of is a lane.
#pragma once

#include <cmath>

#include "common/cpu/transpose.h"
#include "backward.h"
#include "mask.h"
#include "scores.h"

namespace kk {
namespace {

constexpr int64_t kQ = kBackwardQueries;

// The block of queries [query, query + count) of a head.
struct Block {
  int64_t batch, head, query, count;
};

// The queries of a block that see a key are [first, last): what SeenBy says, the other way round.
template <class T>
Seen SeeingKey(const AttentionArgs<T>& args, int64_t keys, const Block& block, int64_t key) {
  if (!args.causal) return {0, block.count};  // all queries see the same keys
  const int64_t first = key - keys + args.queries - block.query;
  const int64_t last = args.window > 0 ? first + args.window : block.count;
  return {std::clamp<int64_t>(first, 0, block.count), std::clamp<int64_t>(last, 0, block.count)};
}

// The mask [kMaskKeys][kQ] of a block beside `count` keys. A bool's is 0 or -inf. `rows` is scratch memory [kQ][kMaskKeys].
template <class T>
void GatherMask(const AttentionArgs<T>& args, const Block& block, int64_t key, int64_t count, float* rows, float* to) {
  std::fill(rows, rows + kQ * kMaskKeys, 0.0f);
  for (int64_t i = 0; i < block.count; ++i) {
    MaskRow(args.mask, block.batch, block.head, block.query + i, key, count, rows + i * kMaskKeys);
  }
  TransposeMatrix(rows, kQ, kMaskKeys, to);
}

enum class Slopes { kOfScores, kOfMask };  // before soft_cap, and after it

// Turns products into scores.
struct ScoreRule {
  float scale, soft_cap;
  Slopes wanted;  // those of scores are multiplied with the scale, too
};

// A key beside the queries of a block: those outside [first, last) don't see it, nor those whose mask is -inf.
struct KeyRow {
  const float *scores, *d_weights;  // [kQ], of the products
  const float* mask;  // null: none
  Seen by;
};

struct WeightAndSlope {
  VF weight, slope;
};

// A vector of a key's row, from query i on.
inline WeightAndSlope Weigh(const KeyRow& key, int64_t i, const float* lse, const float* delta, const ScoreRule& rule) {
  VF score = Pack<float>::Load(key.scores + i) * rule.scale, slope = VF{} + 1;
  if (rule.soft_cap > 0) {
    const VF t = Tanh(score / rule.soft_cap);
    score = t * rule.soft_cap;
    if (rule.wanted == Slopes::kOfScores) slope = 1 - t * t;
  }
  if (rule.wanted == Slopes::kOfScores) slope *= rule.scale;
  const VF added = key.mask ? Pack<float>::Load(key.mask + i) : VF{};
  const VF weight = Exp(score + added - Pack<float>::Load(lse + i));
  slope *= weight * (Pack<float>::Load(key.d_weights + i) - Pack<float>::Load(delta + i));
  VI seen = added != Splat(-INFINITY);
  if (i < key.by.first || i + kLanes > key.by.last) {
    const VI lane = InFloat::LaneIndex() + static_cast<int32_t>(i);
    seen &= (lane >= static_cast<int32_t>(key.by.first)) & (lane < static_cast<int32_t>(key.by.last));
  }
  return {seen ? weight : VF{}, seen ? slope : VF{}};
}

}  // namespace
}  // namespace kk
