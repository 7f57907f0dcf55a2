// Attention with an online softmax: a chunk of keys at a time, without a matrix of all scores.
#include <cmath>

#include "blocks.h"
#include "few_rows.h"

namespace kk {
namespace {

using FewLevel = typename RowLevel<KP_VARIANT>::Type;

// Keys [begin, end), of one query only, as in decoding: each is read once, as it lies.
template <class T>
void RunFew(const AttentionArgs<T>& args, const AttentionTask& task, const AttentionState& state, int64_t begin,
            int64_t end, float* memory) {
  const int64_t padded = PaddedWidth(args.width), rows = task.count * args.shared();
  const int64_t length = GetLength(args, task.batch);
  float* const queries = memory;
  float* const all_scores = queries + rows * padded;
  GatherQueries(args.q, args.of_q, task, args.shared(), args.width, args.scale, queries);
  const T* k = args.k + task.batch * args.of_k.batch + task.group * args.of_k.head;
  const T* v = args.v + task.batch * args.of_v.batch + task.group * args.of_v.head;
  for (int64_t key = begin; key < end; key += kAttentionKeys) {
    const int64_t count = std::min(kAttentionKeys, end - key);
    const T *keys[kAttentionKeys], *values[kAttentionKeys];
    for (int64_t j = 0; j < count; ++j) {
      keys[j] = k + (key + j) * args.of_k.row, values[j] = v + (key + j) * args.of_v.row;
    }
    const FewKeys<T> few = {keys, values, count, args.width};
    FewScores<FewLevel>(few, queries, rows, all_scores);
    for (int64_t r = 0; r < rows; ++r) {
      const Seen seen = SeenBy(args, length, task.query + r % task.count);
      const int64_t first = std::clamp<int64_t>(seen.first - key, 0, count), last = std::min(count, seen.last - key);
      float* scores = all_scores + r * kAttentionKeys;
      CapRow(scores, first, last, args.soft_cap);
      const int64_t head = task.group * args.shared() + r / task.count;
      MaskRow(args.mask, task.batch, head, task.query + r % task.count, key + first, last - first, scores + first);
      const float factor = WeighRow(scores, first, last, state.largest + r, state.total + r);
      ScaleSums(state.sums + r * padded, padded, factor);
    }
    FewValues<FewLevel>(few, all_scores, rows, state.sums);
  }
}

}  // namespace

template <class Level, class T>
void AttentionRun(const AttentionArgs<T>& args, const AttentionTask& task, const AttentionState& state, float* memory) {
  const int64_t rows = task.count * args.shared(), length = GetLength(args, task.batch);
  BeginState(task, args.shared(), args.width, args.sinks, state);
  const int64_t begin = std::max(task.first_key, SeenBy(args, length, task.query).first);
  const int64_t end = std::min(task.last_key, SeenBy(args, length, task.query + task.count - 1).last);
  // Of one query only: the gradient makes its scores by tiles, and their last bits should be those of this pass.
  if (args.queries == 1 && rows <= kFewRows) {
    RunFew(args, task, state, begin, end, memory);
  } else {
    RunBlocks<typename ProductsOf<T>::Type>(args, task, RowsOfTask<T>(args, task), state, begin, end, memory);
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
#if defined(__AVX512BF16__)
KK_INSTANTIATE(Bf16)
#else
KK_ATTENTION_TYPES(KK_INSTANTIATE)
#endif

}  // namespace kk
