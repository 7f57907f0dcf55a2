// Scores to weights, with an online softmax: many rows beside a chunk of keys.
#pragma once

#include <cmath>

#include "common/cpu/math.h"
#include "common/cpu/transpose.h"
#include "chunk.h"
#include "mask.h"
#include "scores.h"

namespace kk {
namespace {

// The rows of a task beside one chunk of keys.
template <class Products>
class ChunkWeights {
 public:
  using Args = AttentionArgs<typename Products::Type>;

  ChunkWeights(const Args& args, const AttentionTask& task, int64_t key, int64_t count)
      : args_(args),
        task_(task),
        length_(GetLength(args, task.batch)),
        key_(key),
        count_(count),
        scale_(Products::kScalesQueries ? 1 : args.scale),
        plain_(scale_ >= 0 && args.soft_cap <= 0 && args.mask.kind == MaskKind::kNone) {}

  // scores[rows][kKeys] of the task's rows from `row` on, to weights as the product has them; those of keys that a row
  // doesn't see are 0. Two vectors of keys are read and written at a time. `state` becomes that of the chunks up to this one, with its
  // sums still without this one.
  void Weigh(float* scores, int64_t row, int64_t rows, const AttentionState& state) const {
    for (int64_t r = 0; r < rows; r += kLanes) {
      const int here = static_cast<int>(std::min<int64_t>(kLanes, rows - r));
      WeighRows(scores + r * kKeys, row + r, here, state);
    }
  }

 private:
  static constexpr int64_t kKeys = Products::kKeys;

  struct Keys {
    int64_t first, last;  // that the row sees, of the chunk's
  };

  Keys GetSeenKeys(int64_t r) const {
    const Seen seen = SeenBy(args_, length_, task_.query + r % task_.count);
    return {std::clamp<int64_t>(seen.first - key_, 0, count_), std::clamp<int64_t>(seen.last - key_, 0, count_)};
  }

  // f(j, low, high) for two vectors of a row's scores at a time; those of keys that it doesn't see are -inf.
  template <class F>
  void ForScores(const float* scores, Keys keys, F f) const {
    if (keys.first == 0 && keys.last == kKeys) {
#pragma GCC unroll 16
      for (int64_t j = 0; j < kKeys; j += 2 * kLanes) {
        f(j, Pack<float>::Load(scores + j), Pack<float>::Load(scores + j + kLanes));
      }
      return;
    }
    const auto seen_of = [&](int64_t j) {
      const VI key = Pack<float>::LaneIndex() + static_cast<int32_t>(j);
      const VI seen = (key >= static_cast<int32_t>(keys.first)) & (key < static_cast<int32_t>(keys.last));
      return seen ? Pack<float>::Load(scores + j) : Splat(-INFINITY);
    };
    for (int64_t j = 0; j < count_; j += 2 * kLanes) f(j, seen_of(j), seen_of(j + kLanes));
  }

  // Applies the scale, the cap and the mask to a row of scores.
  void Change(float* scores, int64_t r, Keys keys) const {
    for (int64_t j = 0; scale_ != 1 && j < count_; j += kLanes) {
      Pack<float>::Store(scores + j, Pack<float>::Load(scores + j) * scale_);
    }
    CapRow(scores, keys.first, keys.last, args_.soft_cap);
    const int64_t head = task_.group * args_.shared() + r / task_.count, query = task_.query + r % task_.count;
    MaskRow(args_.mask, task_.batch, head, query, key_ + keys.first, keys.last - keys.first, scores + keys.first);
  }

  void WeighRows(float* scores, int64_t begin, int count, const AttentionState& state) const {
    constexpr float kRise = 4;  // of the largest score: up to it weights are above 1, and the sums needn't be scaled
    Keys keys[kLanes];
    VF folded[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      folded[i] = Splat(-INFINITY);
      if (i >= count) continue;
      float* const row = scores + i * kKeys;
      keys[i] = GetSeenKeys(begin + i);
      if (!plain_) Change(row, begin + i, keys[i]);
      VF most[2] = {Splat(-INFINITY), Splat(-INFINITY)};  // two chains: a step needs longer than it takes
      ForScores(row, keys[i], [&](int64_t, VF low, VF high) {
        most[0] = Max(low, most[0]);
        most[1] = Max(high, most[1]);
      });
      folded[i] = Max(most[0], most[1]);
    }
    const float scale = plain_ ? scale_ : 1;
    const Part part = {count};
    const VF before = Get(state.largest + begin, part, -INFINITY);
    const VF most = MaxEach(folded) * scale;
    const VF now = most > before + kRise ? most : before;
    const VF origin = now == Splat(-INFINITY) ? VF{} : now;
    float origins[kLanes], factors[kLanes];
    Pack<float>::Store(origins, origin * Products::kUnit);
    for (int i = 0; i < kLanes; ++i) {
      folded[i] = VF{};
      if (i >= count) continue;
      float* const row = scores + i * kKeys;
      const float by = scale * Products::kUnit, from = origins[i];
      VF sum[2] = {};
      ForScores(row, keys[i], [&](int64_t j, VF low, VF high) { Products::Weigh(low, high, by, from, row, j, sum); });
      folded[i] = sum[0] + sum[1];
    }
    const VF factor = before == Splat(-INFINITY) ? VF{} : Exp(before - origin);
    Put(state.largest + begin, part, now);
    Put(state.total + begin, part, Get(state.total + begin, part) * factor + SumEach(folded));
    Pack<float>::Store(factors, factor);
    const int64_t padded = PaddedWidth(args_.width);
    for (int i = 0; i < count; ++i) ScaleSums(state.sums + (begin + i) * padded, padded, factors[i]);
  }

  const Args& args_;
  const AttentionTask& task_;
  int64_t length_, key_, count_;
  float scale_;
  bool plain_;  // scores are multiplied with the scale, and nothing else is done to them
};

}  // namespace
}  // namespace kk
