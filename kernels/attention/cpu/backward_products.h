// The five products of attention's gradient, of floats or of bf16 pairs: how their operands lie. Weights and slopes have a row per
// key, so that no product needs a transposed matrix of them.
//
// kScalesQueries: the queries are multiplied with the scale before, else the scores after.
#pragma once

#include "common/cpu/float_rows.h"
#include "common/cpu/pairs.h"
#include "common/cpu/tile.h"
#include "backward_scores.h"

namespace kk {
namespace {

// The memory of a task, as floats: sums of a block's d_q [kQ, padded]; scores and gradients of weights [keys, kQ]; both of the block,
// and both of the keys, as the products have them.
struct GradientMemory {
  float *d_q, *scores, *d_weights, *of_block, *of_keys;
  int64_t width, padded;
  GradientMemory(float* memory, int64_t width) : d_q(memory), width(width), padded(PaddedWidth(width)) {
    scores = d_q + kQ * padded;
    d_weights = scores + kBackwardKeys * kQ;
    of_block = d_weights + kBackwardKeys * kQ;
    of_keys = of_block + 4 * kQ * padded + kBackwardKeys * kQ / 2;
  }
  int64_t vectors() const { return (width + kLanes - 1) / kLanes * kLanes; }
};

// Where the rows of a block, or those of keys, begin, and how far apart they are.
template <class T>
struct Rows {
  const T* data;
  int64_t stride, count;
};

// Computed in f32, for any type.
template <class T>
class FloatGradient {
 public:
  static constexpr bool kScalesQueries = true;

  explicit FloatGradient(const GradientMemory& memory) : m_(memory) {
    const int64_t size = kQ * m_.padded;
    q_ = m_.of_block, d_out_ = q_ + size, q_columns_ = d_out_ + size, d_out_columns_ = q_columns_ + size;
  }

  // A block's queries and gradients of results.
  void SetBlock(const Rows<T>& q, const Rows<T>& d_out, float scale) {
    std::fill(q_, q_columns_, 0.0f);
    for (int64_t i = 0; i < q.count; ++i) {
      ForRow<T>(m_.width, [&](int64_t d, auto extent) {
        Put(q_ + i * m_.padded + d, extent, Get(q.data + i * q.stride + d, extent) * scale);
        Put(d_out_ + i * m_.padded + d, extent, Get(d_out.data + i * d_out.stride + d, extent));
      });
    }
    TransposeMatrix(q_, kQ, m_.padded, q_columns_);
    TransposeMatrix(d_out_, kQ, m_.padded, d_out_columns_);
    queries_ = q.count;
  }

  void SetKeys(const Rows<T>& keys, const Rows<T>& values) {
    const FloatRows<T, true> k(keys.data, keys.stride, keys.count, m_.width, m_.of_keys);
    const FloatRows<T, true> v(values.data, values.stride, values.count, m_.width,
                               m_.of_keys + kBackwardKeys * m_.padded);
    keys_ = {k.data, k.stride, keys.count}, values_ = {v.data, v.stride, values.count};
  }

  // m_.scores and m_.d_weights of the first `columns` queries.
  void Scores(int64_t columns) {
    Multiply<FloatSteps>(keys_.count, columns, keys_.data, keys_.stride, q_columns_, kQ, m_.width, m_.scores, kQ,
                         false);
    Multiply<FloatSteps>(keys_.count, columns, values_.data, values_.stride, d_out_columns_, kQ, m_.width, m_.d_weights,
                         kQ, false);
  }

  // Scores to weights and gradients of weights to slopes, in their places: weigh(row_of(key), i) gives a vector of each.
  template <class GetRow, class F>
  void Weigh(int64_t columns, GetRow row_of, F weigh) {
    for (int64_t j = 0; j < keys_.count; ++j) {
      const KeyRow key = row_of(j);
      for (int64_t i = 0; i < columns; i += kLanes) {
        const WeightAndSlope both = weigh(key, i);
        Pack<float>::Store(m_.scores + j * kQ + i, both.weight);
        Pack<float>::Store(m_.d_weights + j * kQ + i, both.slope);
      }
    }
  }

  // Adds to d_k and d_v, rows of the keys, and to m_.d_q.
  void Add(float* d_k, float* d_v) {
    const int64_t vectors = m_.vectors();
    Multiply<FloatSteps>(keys_.count, vectors, m_.scores, kQ, d_out_, m_.padded, queries_, d_v, m_.padded, true);
    Multiply<FloatSteps>(keys_.count, vectors, m_.d_weights, kQ, q_, m_.padded, queries_, d_k, m_.padded, true);
    Multiply<TransposedFloatSteps>(queries_, vectors, m_.d_weights, kQ, keys_.data, keys_.stride, keys_.count, m_.d_q,
                                   m_.padded, true);
  }

 private:
  GradientMemory m_;
  float *q_, *d_out_, *q_columns_, *d_out_columns_;
  int64_t queries_ = 0;
  Rows<float> keys_ = {}, values_ = {};
};

// Products of bf16 values, sums in f32; weights and slopes are rounded to bf16.
class PairGradient {
 public:
  static constexpr bool kScalesQueries = false;  // it would round them

  explicit PairGradient(const GradientMemory& memory) : m_(memory) {
    const int64_t half = kQ * m_.padded / 2, of_chunk = kBackwardKeys * m_.padded / 2;
    auto* const block = reinterpret_cast<uint32_t*>(m_.of_block);
    q_pairs_ = block, d_out_pairs_ = q_pairs_ + half;
    q_columns_ = d_out_pairs_ + half, d_out_columns_ = q_columns_ + half;
    slope_pairs_ = d_out_columns_ + half;
    auto* const keys = reinterpret_cast<uint32_t*>(m_.of_keys);
    keys_ = keys, values_ = keys_ + of_chunk, key_pairs_ = values_ + of_chunk;
  }

  void SetBlock(const Rows<Bf16>& q, const Rows<Bf16>& d_out, float) {
    queries_ = q.count;
    const auto set = [&](const Rows<Bf16>& from, uint32_t* pairs, uint32_t* columns) {
      InterleaveRows(from.data, from.stride, from.count, m_.width, pairs, m_.padded);
      TransposePairs(from.data, from.stride, from.count, m_.width, columns, kQ);
    };
    set(q, q_pairs_, q_columns_), set(d_out, d_out_pairs_, d_out_columns_);
  }

  void SetKeys(const Rows<Bf16>& keys, const Rows<Bf16>& values) {
    count_ = keys.count;
    const auto copy = [&](const Rows<Bf16>& from, uint32_t* rows) {
      auto* to = reinterpret_cast<Bf16*>(rows);
      for (int64_t j = 0; j < from.count; ++j) {
        CopyPadded(from.data + j * from.stride, m_.width, m_.padded, to + j * m_.padded);
      }
    };
    copy(keys, keys_), copy(values, values_);
    InterleaveRows(keys.data, keys.stride, keys.count, m_.width, key_pairs_, m_.padded);
  }

  void Scores(int64_t columns) {
    const int64_t steps = (m_.width + 1) / 2;
    Multiply<PairSteps>(count_, columns, keys_, m_.padded / 2, q_columns_, kQ, steps, m_.scores, kQ, false);
    Multiply<PairSteps>(count_, columns, values_, m_.padded / 2, d_out_columns_, kQ, steps, m_.d_weights, kQ, false);
  }

  // As bf16 in the first halves of their rows; slopes of two keys also as pairs. Two keys and two vectors at a time.
  template <class GetRow, class F>
  void Weigh(int64_t columns, GetRow row_of, F weigh) {
    for (int64_t j = 0; j < count_; j += 2) {
      const bool paired = j + 1 < count_;
      const KeyRow even = row_of(j), odd = paired ? row_of(j + 1) : KeyRow{};
      for (int64_t i = 0; i < columns; i += 2 * kLanes) {
        WeightAndSlope first[2], second[2] = {};
        for (int v = 0; v < 2; ++v) {
          first[v] = weigh(even, i + v * kLanes);
          if (paired) second[v] = weigh(odd, i + v * kLanes);
        }
        StoreBoth(j, i, first), StoreBoth(j + 1, i, second);  // each before the scores that are read next
        for (int v = 0; v < 2; ++v) {
          const VU pairs = Bf16Pairs(first[v].slope, second[v].slope);
          std::memcpy(slope_pairs_ + j / 2 * kQ + i + v * kLanes, &pairs, sizeof pairs);
        }
      }
    }
  }

  void Add(float* d_k, float* d_v) {
    const int64_t vectors = m_.vectors(), steps = (queries_ + 1) / 2;
    const auto rows = [](const float* of) { return reinterpret_cast<const uint32_t*>(of); };
    Multiply<PairSteps>(count_, vectors, rows(m_.scores), kQ, d_out_pairs_, m_.padded, steps, d_v, m_.padded, true);
    Multiply<PairSteps>(count_, vectors, rows(m_.d_weights), kQ, q_pairs_, m_.padded, steps, d_k, m_.padded, true);
    Multiply<TransposedPairSteps>(queries_, vectors, slope_pairs_, kQ, key_pairs_, m_.padded, (count_ + 1) / 2, m_.d_q,
                                  m_.padded, true);
  }

 private:
  void StoreBoth(int64_t j, int64_t i, const WeightAndSlope (&both)[2]) {
    StoreBf16(reinterpret_cast<Bf16*>(m_.scores + j * kQ) + i, both[0].weight, both[1].weight);
    StoreBf16(reinterpret_cast<Bf16*>(m_.d_weights + j * kQ) + i, both[0].slope, both[1].slope);
  }

  GradientMemory m_;
  uint32_t *q_pairs_, *d_out_pairs_;  // [kQ / 2, padded]: rows by turns
  uint32_t *q_columns_, *d_out_columns_;  // [padded / 2, kQ]
  uint32_t* slope_pairs_;  // [keys / 2, kQ]
  uint32_t *keys_, *values_;  // [keys, padded / 2]: as they are
  uint32_t* key_pairs_;  // [keys / 2, padded]
  int64_t queries_ = 0, count_ = 0;
};

}  // namespace
}  // namespace kk
