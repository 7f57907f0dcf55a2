// Attention of bf16 values by matrix tiles: products of pairs, with weights rounded to bf16 and sums in f32.
#pragma once

#include <cmath>

#include "../rows/math.h"
#include "../tiles/pairs.h"
#include "../tiles/tile.h"
#include "chunk.h"
#include "mask.h"
#include "scores.h"

namespace kk {
namespace {

// The queries of a task as they are, [rows, PaddedWidth]; zeros beyond their width.
inline void CopyQueries(const AttentionArgs<Bf16>& args, const AttentionTask& task, Bf16* to) {
  const int64_t padded = PaddedWidth(args.width);
  for (int64_t h = 0; h < args.shared(); ++h) {
    for (int64_t i = 0; i < task.count; ++i, to += padded) {
      const Bf16* from = args.q + task.batch * args.of_q.batch + (task.query + i) * args.of_q.row +
                         (task.group * args.shared() + h) * args.of_q.head;
      std::memcpy(to, from, static_cast<size_t>(args.width) * sizeof(Bf16));
      std::fill(to + args.width, to + padded, Bf16{0});
    }
  }
}

// The rows of a task beside one chunk of keys.
class ChunkWeights {
 public:
  // `plain`: scores are multiplied with the scale, and nothing else is done to them.
  ChunkWeights(const AttentionArgs<Bf16>& args, const AttentionTask& task, int64_t key, int64_t count, bool plain)
      : args_(args), task_(task), length_(LengthOf(args, task.batch)), key_(key), count_(count), plain_(plain) {}

  // scores[rows][kTileKeys] of the task's rows from `row` on, to weights: bf16 from where a row's scores begin; those of keys that
  // a row doesn't see are 0. Whole vectors of keys are read and written. `state` becomes that of the chunks up to this one, with its
  // sums still without this one.
  void Weigh(float* scores, int64_t row, int64_t rows, const AttentionState& state) const {
    for (int64_t r = 0; r < rows; r += kLanes) {
      const int here = static_cast<int>(std::min<int64_t>(kLanes, rows - r));
      WeighRows(scores + r * kTileKeys, row + r, here, state);
    }
  }

 private:
  struct Keys {
    int64_t first, last;  // that the row sees, of the chunk's
  };

  Keys SeenOf(int64_t r) const {
    const Seen seen = SeenBy(args_, length_, task_.query + r % task_.count);
    return {std::clamp<int64_t>(seen.first - key_, 0, count_), std::clamp<int64_t>(seen.last - key_, 0, count_)};
  }

  // f(j, low, high) for two vectors of a row's scores at a time; those of keys that it doesn't see are -inf.
  template <class F>
  void ForScores(const float* scores, Keys keys, F f) const {
    if (keys.first == 0 && keys.last == kTileKeys) {
#pragma GCC unroll 16
      for (int64_t j = 0; j < kTileKeys; j += 2 * kLanes) {
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

  // What the scale alone doesn't do.
  void Change(float* scores, int64_t r, Keys keys) const {
    for (int64_t j = 0; j < count_; j += kLanes) {
      Pack<float>::Store(scores + j, Pack<float>::Load(scores + j) * args_.scale);
    }
    CapRow(scores, keys.first, keys.last, args_.soft_cap);
    const int64_t head = task_.group * args_.shared() + r / task_.count, query = task_.query + r % task_.count;
    MaskRow(args_.mask, task_.batch, head, query, key_ + keys.first, keys.last - keys.first, scores + keys.first);
  }

  void WeighRows(float* scores, int64_t begin, int count, const AttentionState& state) const {
    constexpr float kLog2E = 0x1.715476p0f;
    constexpr float kRise = 4;  // of the largest score: up to it weights are above 1, and the sums needn't be scaled
    Keys keys[kLanes];
    VF folded[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      folded[i] = Splat(-INFINITY);
      if (i >= count) continue;
      float* const row = scores + i * kTileKeys;
      keys[i] = SeenOf(begin + i);
      if (!plain_) Change(row, begin + i, keys[i]);
      VF most[2] = {Splat(-INFINITY), Splat(-INFINITY)};  // two chains: a step needs longer than it takes
      ForScores(row, keys[i], [&](int64_t, VF low, VF high) {
        most[0] = Max(low, most[0]);
        most[1] = Max(high, most[1]);
      });
      folded[i] = Max(most[0], most[1]);
    }
    const float scale = plain_ ? args_.scale : 1;
    const Part part = {count};
    const VF before = Get(state.largest + begin, part, -INFINITY);
    const VF most = MaxEach(folded) * scale;
    const VF now = most > before + kRise ? most : before;
    const VF origin = now == Splat(-INFINITY) ? VF{} : now;
    float origins[kLanes], factors[kLanes];
    Pack<float>::Store(origins, origin * kLog2E);
    for (int i = 0; i < kLanes; ++i) {
      folded[i] = VF{};
      if (i >= count) continue;
      float* const row = scores + i * kTileKeys;
      auto* const weights = reinterpret_cast<Bf16*>(row);
      const float by = scale * kLog2E, from = origins[i];
      VF sum[2] = {};
      ForScores(row, keys[i], [&](int64_t j, VF low, VF high) {
        const VF weights_of[2] = {CoarseExp2(low * by - from), CoarseExp2(high * by - from)};
        sum[0] += weights_of[0];
        sum[1] += weights_of[1];
        StoreBf16(weights + j, weights_of[0], weights_of[1]);  // below what is read next
      });
      folded[i] = sum[0] + sum[1];
    }
    const VF factor = before == Splat(-INFINITY) ? VF{} : Exp(before - origin);
    Put(state.largest + begin, part, now);
    Put(state.total + begin, part, Get(state.total + begin, part) * factor + SumEach(folded));
    Pack<float>::Store(factors, factor);
    const int64_t padded = PaddedWidth(args_.width);
    for (int i = 0; i < count; ++i) ScaleSums(state.sums + (begin + i) * padded, padded, factors[i]);
  }

  const AttentionArgs<Bf16>& args_;
  const AttentionTask& task_;
  int64_t length_, key_, count_;
  bool plain_;
};

// Whether a row of [begin, end), all of one head, sees a key of the chunk; rows of several heads may.
inline bool AnySeen(const AttentionArgs<Bf16>& args, const AttentionTask& task, int64_t begin, int64_t end, int64_t key,
                    int64_t count) {
  if (begin / task.count != (end - 1) / task.count) return true;
  const int64_t length = LengthOf(args, task.batch), query = task.query + begin % task.count;
  return SeenBy(args, length, query).first < key + count && SeenBy(args, length, query + end - 1 - begin).last > key;
}

// Keys [begin, end) of a task, whose state has been cleared. Memory: AttentionScratch.
template <class Tiles>
inline void RunByTiles(const AttentionArgs<Bf16>& args, const AttentionTask& task, const AttentionState& state,
                       int64_t begin, int64_t end, float* memory) {
  const int64_t padded = PaddedWidth(args.width), rows = task.count * args.shared();
  const int64_t width = (args.width + kLanes - 1) / kLanes * kLanes;
  auto* const queries = reinterpret_cast<uint32_t*>(memory);
  float* const scores = memory + rows * padded;
  auto* const keys = reinterpret_cast<uint32_t*>(scores + std::min(rows, kWeighedRows) * kTileKeys);
  uint32_t* const values = keys + padded / 2 * kTileKeys;
  const Bf16* k = args.k + task.batch * args.of_k.batch + task.group * args.of_k.head;
  const Bf16* v = args.v + task.batch * args.of_v.batch + task.group * args.of_v.head;
  const bool plain = args.scale >= 0 && args.soft_cap <= 0 && args.mask.kind == MaskKind::kNone;
  MatrixSession<Tiles> session;
  CopyQueries(args, task, reinterpret_cast<Bf16*>(queries));
  for (int64_t key = begin; key < end; key += kTileKeys) {
    const int64_t count = std::min(kTileKeys, end - key);
    const int64_t columns = (count + kLanes - 1) / kLanes * kLanes;
    const ChunkWeights weights(args, task, key, count, plain);
    TransposePairs(k + key * args.of_k.row, args.of_k.row, count, args.width, keys, kTileKeys);
    InterleaveRows(v + key * args.of_v.row, args.of_v.row, count, args.width, values, padded);
    for (int64_t r = 0; r < rows; r += kWeighedRows) {
      const int64_t here = std::min(kWeighedRows, rows - r);
      if (!AnySeen(args, task, r, r + here, key, count)) continue;
      session.Multiply({here, columns, queries + r * padded / 2, padded / 2, keys, kTileKeys, (args.width + 1) / 2,
                        scores, kTileKeys},
                       false);
      weights.Weigh(scores, r, here, state);
      session.Multiply({here, width, reinterpret_cast<const uint32_t*>(scores), kTileKeys, values, padded,
                        (count + 1) / 2, state.sums + r * padded, padded},
                       true);
    }
  }
}

}  // namespace
}  // namespace kk
