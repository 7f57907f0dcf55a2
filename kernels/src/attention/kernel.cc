// Attention with an online softmax: 128 keys at a time, without a matrix of all scores.
#include <cmath>

#include "../tiles/tile.h"
#include "chunk.h"
#include "few_rows.h"
#include "mask.h"
#include "matrix.h"

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

}  // namespace

template <class Level, class T>
void AttentionRun(const AttentionArgs<T>& args, const AttentionTask& task, const AttentionState& state, float* memory) {
  const int64_t padded = PaddedWidth(args.width), rows = task.count * args.shared();
  const Scratch scratch(memory, rows, padded);
  const int64_t length = LengthOf(args, task.batch);
  // Of one query only, as in decoding: the gradient makes its scores by tiles, and their last bits should be those of this pass.
  const bool few = args.queries == 1 && rows <= kFewRows;
  std::fill(state.sums, state.sums + rows * padded, 0.0f);
  std::fill(state.largest, state.largest + rows, -INFINITY);
  std::fill(state.total, state.total + rows, 0.0f);
  const int64_t begin = std::max(task.first_key, SeenBy(args, length, task.query).first);
  const int64_t end = std::min(task.last_key, SeenBy(args, length, task.query + task.count - 1).last);
#if defined(__AMX_BF16__)
  if (!few) return RunByTiles<AmxTiles>(args, task, state, begin, end, memory);
#endif
  GatherQueries(args.q, args.of_q, task, args.shared(), args.width, args.scale, scratch.queries);
  const T* k = args.k + task.batch * args.of_k.batch + task.group * args.of_k.head;
  const T* v = args.v + task.batch * args.of_v.batch + task.group * args.of_v.head;
  for (int64_t key = begin; key < end; key += kAttentionKeys) {
    const int64_t count = std::min(kAttentionKeys, end - key);
    const int64_t columns = (count + kLanes - 1) / kLanes * kLanes;
    if (few) {
      const StridedRows<T> keys = {k + key * args.of_k.row, args.of_k.row};
      const StridedRows<T> values = {v + key * args.of_v.row, args.of_v.row};
      InBlocks(rows, [&](auto n, int64_t r) {
        FewScores<decltype(n)::value>(keys, values, count, scratch.queries + r * padded, args.width, padded,
                                      scratch.scores + r * kAttentionKeys);
      });
    } else {
      TransposeKeys(k + key * args.of_k.row, args.of_k.row, count, args.width, scratch.keys);
      Multiply<FloatSteps>(rows, columns, scratch.queries, padded, scratch.keys, kAttentionKeys, args.width,
                           scratch.scores, kAttentionKeys, false);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const Seen seen = SeenBy(args, length, task.query + r % task.count);
      const int64_t first = std::clamp<int64_t>(seen.first - key, 0, count), last = std::min(count, seen.last - key);
      float* scores = scratch.scores + r * kAttentionKeys;
      CapRow(scores, first, last, args.soft_cap);
      const int64_t head = task.group * args.shared() + r / task.count;
      MaskRow(args.mask, task.batch, head, task.query + r % task.count, key + first, last - first, scores + first);
      const float factor = WeighRow(scores, first, last, state.largest + r, state.total + r);
      ScaleSums(state.sums + r * padded, padded, factor);
    }
    if (few) {
      const StridedRows<T> values = {v + key * args.of_v.row, args.of_v.row};
      InBlocks(rows, [&](auto n, int64_t r) {
        FewValues<decltype(n)::value>(values, count, scratch.scores + r * kAttentionKeys, args.width, padded,
                                      state.sums + r * padded);
      });
      continue;
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
  if (parts == 1) {
    const float all = *total;
    ForRow<float>(width,
                  [&](int64_t d, auto extent) { Put(out + d, extent, all == 0 ? VF{} : Get(sums + d, extent) / all); });
    return all == 0 ? INFINITY : *largest + std::log(all);
  }
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
#if defined(__AMX_BF16__)
KK_INSTANTIATE(Bf16)
#else
KK_ATTENTION_TYPES(KK_INSTANTIATE)
#endif

}  // namespace kk
