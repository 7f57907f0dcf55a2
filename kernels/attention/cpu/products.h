// The products of attention, of floats or of bf16 pairs: how their operands lie, and what weights are.
//
// Rows: made at a time, so that their scores stay in the first cache. Keys: a chunk. kUnit: scores times it are the exponents of
// Weigh's powers.
#pragma once

#include "common/cpu/math.h"
#include "common/cpu/float_rows.h"
#include "common/cpu/pairs.h"
#include "common/cpu/tile.h"
#include "chunk.h"

namespace kk {
namespace {

// Members of both products: the memory for a chunk's operands, and sizes.
template <class Operand>
class ChunkOperands {
 public:
  using Item = Operand;

 protected:
  ChunkOperands(int64_t width, Item* keys, Item* values) : width_(width), keys_(keys), values_(values) {}

  int64_t padded() const { return PaddedWidth(width_); }
  int64_t whole() const { return (width_ + kLanes - 1) / kLanes * kLanes; }  // columns of the result

  int64_t width_;
  Item *keys_, *values_;
  int64_t count_ = 0;  // of keys
};

// Computed in f32, for any type. Queries are multiplied with the scale.
template <class T>
class FloatProducts : public ChunkOperands<float> {
 public:
  using Type = T;
  static constexpr int64_t kRows = kAttentionBlockRows, kKeys = kAttentionKeys;
  static constexpr bool kScalesQueries = true;
  static constexpr float kUnit = 1;

  FloatProducts(int64_t width, float* keys, float* values) : ChunkOperands(width, keys, values) {}

  void Queries(const AttentionArgs<T>& args, const AttentionTask& task, Item* to) const {
    GatherQueries(args.q, args.of_q, task, args.shared(), width_, args.scale, to);
  }

  // Makes a chunk ready.
  void Chunk(const T* k, int64_t k_stride, const T* v, int64_t v_stride, int64_t count) {
    TransposeKeys(k, k_stride, count, width_, keys_);
    const FloatRows<T, true> values(v, v_stride, count, width_, values_);
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
    Multiply<FloatSteps>(rows, whole(), weights, kKeys, chunk_values_, chunk_stride_, count_, sums, padded(), true);
  }

  int64_t query_items() const { return padded(); }  // of a row

 private:
  const float* chunk_values_ = nullptr;
  int64_t chunk_stride_ = 0;
};

// Products of bf16 pairs by the tiles of vectors of the CPU level, in place of MatrixSession.
struct VectorSession {
  static constexpr int64_t kRows = kAttentionBlockRows, kKeys = kAttentionKeys;
  static void Multiply(const MatrixProduct& p, bool add) {
    kk::Multiply<PairSteps>(p.rows, p.columns, p.a, p.a_stride, p.panel, p.width, p.steps, p.c, p.c_stride, add);
  }
};
template <class Tiles>
struct TileSession : MatrixSession<Tiles> {
  static constexpr int64_t kRows = kTileBlockRows, kKeys = kTileKeys;
};

// Products of bf16 values, sums in f32, weights rounded to bf16.
template <class Session>
class Bf16Products : public ChunkOperands<uint32_t> {
 public:
  using Type = Bf16;
  static constexpr int64_t kRows = Session::kRows, kKeys = Session::kKeys;
  static constexpr bool kScalesQueries = false;  // it would round them
  static constexpr float kUnit = 0x1.715476p0f;  // log2 e

  Bf16Products(int64_t width, uint32_t* keys, uint32_t* values) : ChunkOperands(width, keys, values) {}

  // As they are; zeros beyond their width.
  void Queries(const AttentionArgs<Bf16>& args, const AttentionTask& task, Item* items) const {
    auto* to = reinterpret_cast<Bf16*>(items);
    ForQueries(args.q, args.of_q, task, args.shared(), [&](const Bf16* from) {
      CopyPadded(from, width_, padded(), to);
      to += padded();
    });
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
    session_.Multiply({rows, whole(), reinterpret_cast<const uint32_t*>(weights), kKeys, values_, padded(),
                       (count_ + 1) / 2, sums, padded()},
                      true);
  }

  int64_t query_items() const { return padded() / 2; }

 private:
  Session session_;
};

}  // namespace
}  // namespace kk
