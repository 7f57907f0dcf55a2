// The products of attention, of floats or of bf16 pairs: how their operands lie, and what weights are.
//
// Rows: made at a time, so that their scores stay in the first cache. Keys: a chunk. kUnit: scores times it are the exponents of
// Weigh's powers.
#pragma once

#include "../rows/math.h"
#include "../tiles/pairs.h"
#include "../tiles/tile.h"
#include "chunk.h"

namespace kk {
namespace {

// Values as floats whose rows are whole vectors: as they lie where they are that, else copied.
template <class T>
struct Values {
  const float* data;
  int64_t stride;
  Values(const T* v, int64_t row_stride, int64_t count, int64_t width, float* scratch) {
    if constexpr (std::is_same_v<T, float>) {
      if (width % kLanes == 0) {
        data = v, stride = row_stride;
        return;
      }
    }
    data = scratch, stride = PaddedWidth(width);
    for (int64_t j = 0; j < count; ++j) {
      float* row = scratch + j * stride;
      for (int64_t d = 0; d < stride; d += kLanes) Pack<float>::Store(row + d, VF{});
      ForRow<T>(width, [&](int64_t d, auto extent) { Put(row + d, extent, Get(v + j * row_stride + d, extent)); });
    }
  }
};

// Computed in f32, for any type. Queries are multiplied with the scale.
template <class T>
class FloatProducts {
 public:
  using Type = T;
  using Item = float;
  static constexpr int64_t kRows = kAttentionBlockRows, kKeys = kAttentionKeys;
  static constexpr bool kScalesQueries = true;
  static constexpr float kUnit = 1;

  FloatProducts(int64_t width, Item* keys, Item* values) : width_(width), keys_(keys), values_(values) {}

  void Queries(const AttentionArgs<T>& args, const AttentionTask& task, Item* to) const {
    GatherQueries(args.q, args.of_q, task, args.shared(), width_, args.scale, to);
  }

  // Makes a chunk ready.
  void Chunk(const T* k, int64_t k_stride, const T* v, int64_t v_stride, int64_t count) {
    TransposeKeys(k, k_stride, count, width_, keys_);
    const Values<T> values(v, v_stride, count, width_, values_);
    chunk_values_ = values.data, chunk_stride_ = values.stride, count_ = count;
  }

  // scores[rows][kKeys] of the chunk's first `columns` keys.
  void Scores(const Item* queries, int64_t rows, int64_t columns, float* scores) {
    Multiply<FloatSteps>(rows, columns, queries, padded(), keys_, kKeys, width_, scores, kKeys, false);
  }

  // Weights of two vectors of scores, kept where the scores of the row lie.
  static void Weigh(VF low, VF high, float by, float origin, float* row, int64_t j, VF (&sums)[2]) {
    const VF weights[2] = {Exp(low * by - origin), Exp(high * by - origin)};
    for (int i = 0; i < 2; ++i) {
      sums[i] += weights[i];
      Pack<float>::Store(row + j + i * kLanes, weights[i]);
    }
  }

  // sums[rows][padded] += weights * values.
  void AddValues(const float* weights, int64_t rows, float* sums) {
    const int64_t whole = (width_ + kLanes - 1) / kLanes * kLanes;
    Multiply<FloatSteps>(rows, whole, weights, kKeys, chunk_values_, chunk_stride_, count_, sums, padded(), true);
  }

  int64_t query_items() const { return padded(); }  // of a row

 private:
  int64_t padded() const { return PaddedWidth(width_); }

  int64_t width_;
  Item *keys_, *values_;
  const float* chunk_values_ = nullptr;
  int64_t chunk_stride_ = 0, count_ = 0;
};

// By matrix tiles: products of bf16 values, sums in f32, weights rounded to bf16.
template <class Tiles>
class TileProducts {
 public:
  using Type = Bf16;
  using Item = uint32_t;
  static constexpr int64_t kRows = kTileBlockRows, kKeys = kTileKeys;
  static constexpr bool kScalesQueries = false;  // it would round them
  static constexpr float kUnit = 0x1.715476p0f;  // log2 e

  TileProducts(int64_t width, Item* keys, Item* values) : width_(width), keys_(keys), values_(values) {}

  // As they are; zeros beyond their width.
  void Queries(const AttentionArgs<Bf16>& args, const AttentionTask& task, Item* items) const {
    auto* to = reinterpret_cast<Bf16*>(items);
    for (int64_t h = 0; h < args.shared(); ++h) {
      for (int64_t i = 0; i < task.count; ++i, to += padded()) {
        const Bf16* from = args.q + task.batch * args.of_q.batch + (task.query + i) * args.of_q.row +
                           (task.group * args.shared() + h) * args.of_q.head;
        std::memcpy(to, from, static_cast<size_t>(width_) * sizeof(Bf16));
        std::fill(to + width_, to + padded(), Bf16{0});
      }
    }
  }

  void Chunk(const Bf16* k, int64_t k_stride, const Bf16* v, int64_t v_stride, int64_t count) {
    TransposePairs(k, k_stride, count, width_, keys_, kKeys);
    InterleaveRows(v, v_stride, count, width_, values_, padded());
    count_ = count;
  }

  void Scores(const Item* queries, int64_t rows, int64_t columns, float* scores) {
    session_.Multiply({rows, columns, queries, padded() / 2, keys_, kKeys, (width_ + 1) / 2, scores, kKeys}, false);
  }

  static void Weigh(VF low, VF high, float by, float origin, float* row, int64_t j, VF (&sums)[2]) {
    const VF weights[2] = {CoarseExp2(low * by - origin), CoarseExp2(high * by - origin)};
    for (int i = 0; i < 2; ++i) sums[i] += weights[i];
    StoreBf16(reinterpret_cast<Bf16*>(row) + j, weights[0], weights[1]);  // before the scores that are read next
  }

  void AddValues(const float* weights, int64_t rows, float* sums) {
    const int64_t whole = (width_ + kLanes - 1) / kLanes * kLanes;
    session_.Multiply({rows, whole, reinterpret_cast<const uint32_t*>(weights), kKeys, values_, padded(),
                       (count_ + 1) / 2, sums, padded()},
                      true);
  }

  int64_t query_items() const { return padded() / 2; }

 private:
  int64_t padded() const { return PaddedWidth(width_); }

  int64_t width_;
  Item *keys_, *values_;
  int64_t count_ = 0;
  MatrixSession<Tiles> session_;
};

}  // namespace
}  // namespace kk
