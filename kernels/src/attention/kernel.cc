// Attention with an online softmax: 128 keys at a time, without a matrix of all scores.
#include <cmath>

#include "../rows/math.h"
#include "../rows/row.h"
#include "../tiles/tile.h"
#include "../tiles/transpose.h"
#include "attention.h"
#include "scores.h"

namespace kk {
namespace {

// The scratch memory of a task.
struct Scratch {
  float *queries, *scores, *keys, *values;
  Scratch(float* memory, int64_t rows, int64_t padded)
      : queries(memory),
        scores(queries + rows * padded),
        keys(scores + rows * kAttentionKeys),
        values(keys + padded * kAttentionKeys) {}
};

template <class T>
void GatherQueries(const AttentionArgs<T>& args, const AttentionTask& task, float* to) {
  const int64_t padded = PaddedWidth(args.width);
  for (int64_t h = 0; h < args.shared(); ++h) {
    for (int64_t i = 0; i < task.count; ++i, to += padded) {
      const T* q = args.q + task.batch * args.of_q.batch + (task.query + i) * args.of_q.row +
                   (task.group * args.shared() + h) * args.of_q.head;
      ForRow<T>(args.width, [&](int64_t d, auto extent) { Put(to + d, extent, Get(q + d, extent) * args.scale); });
    }
  }
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

// scores[0, kAttentionKeys) to weights: those of keys [first, last) become exp(score - largest), the others 0. Returns what the
// row's earlier sums are multiplied with.
inline float WeighRow(float* scores, int64_t first, int64_t last, float soft_cap, float* largest, float* total) {
  for (int64_t j = 0; j < first; ++j) scores[j] = 0;
  for (int64_t j = std::max<int64_t>(last, 0); j < kAttentionKeys; ++j) scores[j] = 0;
  if (first >= last) return 1;
  float* seen = scores + first;
  const int64_t count = last - first;
  if (soft_cap > 0) {
    ForRow<float>(count, [&](int64_t j, auto extent) {
      Put(seen + j, extent, Tanh(Get(seen + j, extent) / soft_cap) * soft_cap);
    });
  }
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

}  // namespace

template <class Level, class T>
void AttentionRun(const AttentionArgs<T>& args, const AttentionTask& task, const AttentionState& state, float* memory) {
  const int64_t padded = PaddedWidth(args.width), rows = task.count * args.shared();
  const Scratch scratch(memory, rows, padded);
  const int64_t length = LengthOf(args, task.batch);
  GatherQueries(args, task, scratch.queries);
  std::fill(state.sums, state.sums + rows * padded, 0.0f);
  std::fill(state.largest, state.largest + rows, -INFINITY);
  std::fill(state.total, state.total + rows, 0.0f);
  const int64_t begin = std::max(task.first_key, SeenBy(args, length, task.query).first);
  const int64_t end = std::min(task.last_key, SeenBy(args, length, task.query + task.count - 1).last);
  const T* k = args.k + task.batch * args.of_k.batch + task.group * args.of_k.head;
  const T* v = args.v + task.batch * args.of_v.batch + task.group * args.of_v.head;
  for (int64_t key = begin; key < end; key += kAttentionKeys) {
    const int64_t count = std::min(kAttentionKeys, end - key);
    const int64_t columns = (count + kLanes - 1) / kLanes * kLanes;
    TransposeKeys(k + key * args.of_k.row, args.of_k.row, count, args.width, scratch.keys);
    Multiply<FloatSteps>(rows, columns, scratch.queries, padded, scratch.keys, kAttentionKeys, args.width,
                         scratch.scores, kAttentionKeys, false);
    for (int64_t r = 0; r < rows; ++r) {
      const Seen seen = SeenBy(args, length, task.query + r % task.count);
      const int64_t first = std::max<int64_t>(0, seen.first - key), last = std::min(count, seen.last - key);
      const float factor = WeighRow(scratch.scores + r * kAttentionKeys, std::min(first, count), last, args.soft_cap,
                                    state.largest + r, state.total + r);
      if (factor == 1) continue;
      float* sums = state.sums + r * padded;
      for (int64_t d = 0; d < padded; d += kLanes) {
        Pack<float>::Store(sums + d, factor == 0 ? VF{} : Pack<float>::Load(sums + d) * factor);
      }
    }
    const Values<T> values(v + key * args.of_v.row, args.of_v.row, count, args.width, scratch.values);
    const int64_t width = (args.width + kLanes - 1) / kLanes * kLanes;
    Multiply<FloatSteps>(rows, width, scratch.scores, kAttentionKeys, values.data, values.stride, count, state.sums,
                         padded, true);
  }
}

template <class Level, class T>
float AttentionMerge(const float* sums, const float* largest, const float* total, int64_t parts, int64_t sum_stride,
                     int64_t row_stride, T* out, int64_t width) {
  float top = -INFINITY;
  for (int64_t p = 0; p < parts; ++p) top = std::max(top, largest[p * row_stride]);
  float all = 0;
  for (int64_t p = 0; p < parts; ++p) {
    if (total[p * row_stride] != 0) all += total[p * row_stride] * std::exp(largest[p * row_stride] - top);
  }
  ForRow<float>(width, [&](int64_t d, auto extent) {
    VF sum = {};
    for (int64_t p = 0; p < parts; ++p) {
      if (total[p * row_stride] == 0) continue;
      sum += Get(sums + p * sum_stride + d, extent) * std::exp(largest[p * row_stride] - top);
    }
    Put(out + d, extent, all == 0 ? VF{} : sum / all);
  });
  return all == 0 ? INFINITY : top + std::log(all);
}

#define KK_INSTANTIATE(T)                                                                                           \
  template void AttentionRun<KP_VARIANT, T>(const AttentionArgs<T>&, const AttentionTask&, const AttentionState&,   \
                                            float*);                                                                \
  template float AttentionMerge<KP_VARIANT, T>(const float*, const float*, const float*, int64_t, int64_t, int64_t, \
                                               T*, int64_t);
KK_ATTENTION_TYPES(KK_INSTANTIATE)

}  // namespace kk
