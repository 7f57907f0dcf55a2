// A chunk of keys, kAttentionKeys at most: its keys as tiles read them, and its scores as weights.
#pragma once

#include <cmath>

#include "common/cpu/transpose.h"
#include "scores.h"

namespace kk {
namespace {

// f(row) for each query of a task, a head after the other. `q` is the first one of the first head.
template <class T, class F>
void ForQueries(const T* q, const AttentionStrides& strides, const AttentionTask& task, int64_t shared, F f) {
  for (int64_t h = 0; h < shared; ++h) {
    for (int64_t i = 0; i < task.count; ++i) {
      f(q + task.batch * strides.batch + (task.query + i) * strides.row + (task.group * shared + h) * strides.head);
    }
  }
}

// The queries of a task, [rows, PaddedWidth]: times the scale, zeros beyond their width. `q` is the first one of the first head.
template <class T>
void GatherQueries(const T* q, const AttentionStrides& strides, const AttentionTask& task, int64_t shared,
                   int64_t width, float scale, float* to) {
  const int64_t padded = PaddedWidth(width);
  ForQueries(q, strides, task, shared, [&](const T* from) {
    for (int64_t d = 0; d < padded; d += kLanes) Pack<float>::Store(to + d, VF{});
    ForRow<T>(width, [&](int64_t d, auto extent) { Put(to + d, extent, Get(from + d, extent) * scale); });
    to += padded;
  });
}

// keys[d][kAttentionKeys] of `count` rows of width d; zeros beyond them.
template <class T>
void TransposeKeys(const T* k, int64_t stride, int64_t count, int64_t width, float* keys) {
  for (int64_t j = 0; j < count; j += kLanes) {
    const int64_t rows = std::min<int64_t>(kLanes, count - j);
    for (int64_t d = 0; d < width; d += kLanes) {
      VF block[kLanes] = {};
      for (int64_t r = 0; r < rows; ++r) {
        const T* from = k + (j + r) * stride + d;
        block[r] = d + kLanes <= width ? Pack<T>::Load(from) : Get(from, Part{static_cast<int>(width - d)});
      }
      Transpose(block);
      for (int i = 0; i < kLanes; ++i) Pack<float>::Store(keys + (d + i) * kAttentionKeys + j, block[i]);
    }
  }
}

// A task's state before its first key. sinks: of all heads, null where there are none. A sink counts as a score of the first key's task
// whose value is zeros.
inline void BeginState(const AttentionTask& task, int64_t shared, int64_t width, const float* sinks,
                       const AttentionState& state) {
  const int64_t rows = task.count * shared;
  std::fill(state.sums, state.sums + rows * PaddedWidth(width), 0.0f);
  for (int64_t r = 0; r < rows; ++r) {
    const float sink = sinks && task.first_key == 0 ? sinks[task.group * shared + r / task.count] : -INFINITY;
    state.largest[r] = sink;
    state.total[r] = sink == -INFINITY ? 0.0f : 1.0f;
  }
}

// Scores [first, last) become soft_cap tanh(score / soft_cap); 0: they stay.
inline void CapRow(float* scores, int64_t first, int64_t last, float soft_cap) {
  if (soft_cap <= 0 || first >= last) return;
  ForRow<float>(last - first, [&](int64_t j, auto extent) {
    Put(scores + first + j, extent, Tanh(Get(scores + first + j, extent) / soft_cap) * soft_cap);
  });
}

// scores[0, kAttentionKeys) to weights: those of keys [first, last) become exp(score - largest), the others 0. Returns what the
// row's earlier sums are multiplied with.
inline float WeighRow(float* scores, int64_t first, int64_t last, float* largest, float* total) {
  for (int64_t j = 0; j < first; ++j) scores[j] = 0;
  for (int64_t j = std::max<int64_t>(last, 0); j < kAttentionKeys; ++j) scores[j] = 0;
  if (first >= last) return 1;
  float* seen = scores + first;
  const int64_t count = last - first;
  const float before = *largest;
  const float now =
      std::max(before, RowMax<float>(count, [&](int64_t j, auto extent) { return Get(seen + j, extent, -INFINITY); }));
  const float origin = now == -INFINITY ? 0 : now;
  ForRow<float>(count, [&](int64_t j, auto extent) { Put(seen + j, extent, Exp(Get(seen + j, extent) - origin)); });
  const float sum =
      static_cast<float>(RowSum<float>(count, [&](int64_t j, auto extent) { return Get(seen + j, extent); }));
  const float factor = before == -INFINITY ? 0 : std::exp(before - origin);
  *largest = now;
  *total = *total * factor + sum;
  return factor;
}

// Multiplies a row's earlier sums, `padded` of them, with what WeighRow has returned.
inline void ScaleSums(float* sums, int64_t padded, float factor) {
  if (factor == 1) return;
  for (int64_t d = 0; d < padded; d += kLanes) {
    Pack<float>::Store(sums + d, factor == 0 ? VF{} : Pack<float>::Load(sums + d) * factor);
  }
}

}  // namespace
}  // namespace kk
