// Attention of the queries that share a key: plain pointers, compiled once per CPU level.
#pragma once

#include <algorithm>
#include <type_traits>

#include "common/cpu/types.h"
#include "common/cpu/padded.h"

namespace kk {

// X(type): what queries, keys and values may be. They are computed in f32, so f64 isn't among them.
#define KK_ATTENTION_TYPES(X) X(float) X(Bf16) X(F16)

// X(type): what a cache may hold. int8_t is scaled, a scale for each key of each group.
#define KK_CACHE_TYPES(X) X(float) X(Bf16) X(F16) X(int8_t)

// Strides of a tensor [batch, length, heads, width], in elements; the last dimension's is 1.
struct AttentionStrides {
  int64_t batch, row, head;
};

enum class MaskKind { kNone, kBool, kFloat, kF16, kBf16 };

// A mask [batch, heads, queries, keys]: strides in elements, 0 where it is the same for all; that of the last dimension is 1. What a bool
// keeps is true; others are added to the scores.
struct AttentionMask {
  MaskKind kind = MaskKind::kNone;
  const void* data = nullptr;
  int64_t batch = 0, head = 0, row = 0;

  // Where the element of a query and key is, in elements.
  int64_t At(int64_t item, int64_t of_head, int64_t query, int64_t key) const {
    return item * batch + of_head * head + query * row + key;
  }
};

template <class T>
struct AttentionArgs {
  const T *q, *k, *v;
  AttentionStrides of_q, of_k, of_v;
  int64_t batch, queries, heads;  // of q
  int64_t keys, groups;  // of k and v; `heads` is a multiple of `groups`
  int64_t width;
  float scale;
  float soft_cap;  // 0: none
  bool causal;  // the last query sees the last key
  int64_t window;  // how many keys a query sees at most, the last ones; 0: all
  const int32_t* lengths;  // [batch], how many keys there are; null: all
  AttentionMask mask = {};
  const float* sinks = nullptr;  // [heads], a score without a value each; null: none

  int64_t shared() const { return heads / groups; }  // queries beside each other that share a key
};

constexpr int64_t kAttentionKeys = 128;  // a chunk of keys
constexpr int64_t kFewRows = 12;  // up to so many, as in decoding, each key is read once, as it lies
constexpr int64_t kAttentionBlockRows = 36;  // whose scores are made at a time: they stay in the first cache
constexpr int64_t kTileKeys = 256;  // both by AMX
constexpr int64_t kTileBlockRows = 32;
constexpr int64_t kAttentionScores = std::max(kAttentionBlockRows * kAttentionKeys, kTileBlockRows* kTileKeys);

// Rows of a task, for which a chunk of keys and values is made ready once: whole blocks.
template <class Level>
constexpr int64_t AttentionRows() {
  return std::is_same_v<Level, x86_64_v4_avx512vnni_avx512bf16_amx_tile_amx_bf16> ? 8 * kTileBlockRows
                                                                                  : 4 * kAttentionBlockRows;
}

// One piece of the work: `count` queries of one group, all its heads, beside the keys [first_key, last_key).
struct AttentionTask {
  int64_t batch, group, query, count, first_key, last_key;
};

// The results of a task: row h * count + i is head h of the i-th query.
struct AttentionState {
  float* sums;  // [rows, padded]: of exp(score - largest) * v
  float* largest;  // [rows]
  float* total;  // [rows]: of exp(score - largest)
};

// Floats of scratch memory, 64-byte aligned, for tasks of `rows` rows.
inline int64_t AttentionScratch(int64_t rows, int64_t width) {
  const int64_t padded = PaddedWidth(width);
  return rows * padded + kAttentionScores + 2 * kAttentionKeys * padded;
}

template <class Level, class T>
void AttentionRun(const AttentionArgs<T>& args, const AttentionTask& task, const AttentionState& state, float* scratch);

// out[width] of a row: what `parts` states, `state_stride` floats apart, add up to. Returns the logarithm of the sum of
// exp(score), or inf where there is none, so that exp(score - it) is a row's weights either way.
template <class Level, class T>
float AttentionMerge(const float* sums, const float* largest, const float* total, int64_t parts, int64_t sum_stride,
                     int64_t row_stride, T* out, int64_t width);

}  // namespace kk
