// Gradients of attention. Weights are computed again from the logarithm of their sum, 120 keys beside 64 queries at a time, with
// a row per key: what a query has one of (that logarithm, say) is then a lane, and no product needs a transposed weight.
#include "backward.h"

#include <cmath>

#include "../tiles/float_rows.h"
#include "../tiles/tile.h"
#include "../tiles/transpose.h"
#include "mask.h"
#include "scores.h"

namespace kk {
namespace {

constexpr int64_t kQ = kBackwardQueries;

// The scratch memory of a task. q and d_out of a block of queries [kQ, padded], their transposes and that of d_q [padded, kQ];
// weights and their slopes [keys, kQ]; the mask [kQ, kMaskKeys] and its transpose; keys and values as floats.
struct Scratch {
  float *q, *d_out, *q_columns, *d_out_columns, *d_q_columns, *weights, *slopes, *mask_rows, *mask, *keys, *values,
      *lse, *delta;
  Scratch(float* memory, int64_t padded)
      : q(memory),
        d_out(q + kQ * padded),
        q_columns(d_out + kQ * padded),
        d_out_columns(q_columns + kQ * padded),
        d_q_columns(d_out_columns + kQ * padded),
        weights(d_q_columns + kQ * padded),
        slopes(weights + kBackwardKeys * kQ),
        mask_rows(slopes + kBackwardKeys * kQ),
        mask(mask_rows + kQ * kMaskKeys),
        keys(mask + kMaskKeys * kQ),
        values(keys + kBackwardKeys * padded),
        lse(values + kBackwardKeys * padded),
        delta(lse + kQ) {}
};

// The block of queries [query, query + count) of a head.
struct Block {
  int64_t batch, head, query, count;
};

// A block's queries, gradients and what else its rows have; zeros where there is no query.
template <class T>
void Gather(const AttentionGradientArgs<T>& args, const Block& block, const Scratch& to) {
  const AttentionArgs<T>& forward = args.forward;
  const int64_t padded = PaddedWidth(forward.width);
  std::fill(to.q, to.q_columns, 0.0f);
  std::fill(to.lse, to.lse + 2 * kQ, 0.0f);
  const float* lse = args.lse + (block.batch * forward.heads + block.head) * forward.queries + block.query;
  for (int64_t i = 0; i < block.count; ++i) {
    const int64_t query = block.query + i;
    const T* q =
        forward.q + block.batch * forward.of_q.batch + query * forward.of_q.row + block.head * forward.of_q.head;
    const int64_t at = ((block.batch * forward.queries + query) * forward.heads + block.head) * forward.width;
    ForRow<T>(forward.width, [&](int64_t d, auto extent) {
      Put(to.q + i * padded + d, extent, Get(q + d, extent) * forward.scale);
      Put(to.d_out + i * padded + d, extent, Get(args.d_out + at + d, extent));
    });
    to.lse[i] = lse[i];
    to.delta[i] = static_cast<float>(RowSum<T>(forward.width, [&](int64_t d, auto extent) {
      return Get(args.d_out + at + d, extent) * Get(args.out + at + d, extent);
    }));
  }
  TransposeMatrix(to.q, kQ, padded, to.q_columns);
  TransposeMatrix(to.d_out, kQ, padded, to.d_out_columns);
}

enum class Slopes { kOfScores, kOfMask };  // before soft_cap, and after it

// A key's scores to weights, and the gradients of its weights to those of its scores. Queries outside [first, last) don't see it,
// nor those whose mask is -inf.
inline void Weigh(float* weights, float* slopes, const float* mask, int64_t columns, int64_t first, int64_t last,
                  float soft_cap, Slopes wanted, const Scratch& of) {
  for (int64_t i = 0; i < columns; i += kLanes) {
    VF score = Pack<float>::Load(weights + i), slope = VF{} + 1;
    if (soft_cap > 0) {
      const VF t = Tanh(score / soft_cap);
      score = t * soft_cap;
      if (wanted == Slopes::kOfScores) slope = 1 - t * t;
    }
    const VF added = mask ? Pack<float>::Load(mask + i) : VF{};
    VF weight = Exp(score + added - Pack<float>::Load(of.lse + i));
    slope *= weight * (Pack<float>::Load(slopes + i) - Pack<float>::Load(of.delta + i));
    VI seen = added != Splat(-INFINITY);
    if (i < first || i + kLanes > last) {
      const VI lane = InFloat::LaneIndex() + static_cast<int32_t>(i);
      seen &= (lane >= static_cast<int32_t>(first)) & (lane < static_cast<int32_t>(last));
    }
    weight = seen ? weight : VF{}, slope = seen ? slope : VF{};
    Pack<float>::Store(weights + i, weight);
    Pack<float>::Store(slopes + i, slope);
  }
}

// The mask of a block beside `count` keys, as scores are: a row per key. A bool's is 0 or -inf.
template <class T>
void GatherMask(const AttentionArgs<T>& args, const Block& block, int64_t key, int64_t count, const Scratch& to) {
  std::fill(to.mask_rows, to.mask_rows + kQ * kMaskKeys, 0.0f);
  for (int64_t i = 0; i < block.count; ++i) {
    MaskRow(args.mask, block.batch, block.head, block.query + i, key, count, to.mask_rows + i * kMaskKeys);
  }
  TransposeMatrix(to.mask_rows, kQ, kMaskKeys, to.mask);
}

// The queries of a block that see a key are [first, last): what SeenBy says, the other way round.
template <class T>
Seen SeeingKey(const AttentionArgs<T>& args, int64_t keys, const Block& block, int64_t key) {
  if (!args.causal) return {0, block.count};  // all queries see the same keys
  const int64_t first = key - keys + args.queries - block.query;
  const int64_t last = args.window > 0 ? first + args.window : block.count;
  return {std::clamp<int64_t>(first, 0, block.count), std::clamp<int64_t>(last, 0, block.count)};
}

// Keys and values beside a block of queries, as floats.
template <class T>
struct Chunk {
  int64_t key, count;
  FloatRows<T> keys, values;
  Chunk(const AttentionArgs<T>& args, const Block& block, int64_t key, int64_t count, const Scratch& scratch)
      : key(key),
        count(count),
        keys(args.k + block.batch * args.of_k.batch + block.head / args.shared() * args.of_k.head + key * args.of_k.row,
             args.of_k.row, count, args.width, scratch.keys),
        values(
            args.v + block.batch * args.of_v.batch + block.head / args.shared() * args.of_v.head + key * args.of_v.row,
            args.of_v.row, count, args.width, scratch.values) {}
};

// scratch.weights and scratch.slopes of a block beside a chunk.
template <class T>
void WeighChunk(const AttentionArgs<T>& args, const Block& block, const Chunk<T>& chunk, Slopes wanted,
                const Scratch& scratch) {
  const int64_t length = LengthOf(args, block.batch), columns = (block.count + kLanes - 1) / kLanes * kLanes;
  Multiply<FloatSteps>(chunk.count, columns, chunk.keys.data, chunk.keys.stride, scratch.q_columns, kQ, args.width,
                       scratch.weights, kQ, false);
  Multiply<FloatSteps>(chunk.count, columns, chunk.values.data, chunk.values.stride, scratch.d_out_columns, kQ,
                       args.width, scratch.slopes, kQ, false);
  const bool masked = args.mask.kind != MaskKind::kNone;
  if (masked) GatherMask(args, block, chunk.key, chunk.count, scratch);
  for (int64_t j = 0; j < chunk.count; ++j) {
    const Seen by = SeeingKey(args, length, block, chunk.key + j);
    Weigh(scratch.weights + j * kQ, scratch.slopes + j * kQ, masked ? scratch.mask + j * kQ : nullptr, columns,
          by.first, by.last, args.soft_cap, wanted, scratch);
  }
}

template <class T>
void WriteQueries(const AttentionGradientArgs<T>& args, const Block& block, const Scratch& scratch) {
  const AttentionArgs<T>& forward = args.forward;
  const int64_t padded = PaddedWidth(forward.width);
  TransposeMatrix(scratch.d_q_columns, padded, kQ, scratch.q);
  for (int64_t i = 0; i < block.count; ++i) {
    T* d_q =
        args.d_q + ((block.batch * forward.queries + block.query + i) * forward.heads + block.head) * forward.width;
    ForRow<T>(forward.width, [&](int64_t d, auto extent) {
      Put(d_q + d, extent, Get(scratch.q + i * padded + d, extent) * forward.scale);
    });
  }
}

}  // namespace

template <class Level, class T>
void AttentionGradientRun(const AttentionGradientArgs<T>& args, const AttentionGradientTask& task, float* d_k,
                          float* d_v, float* memory) {
  const AttentionArgs<T>& forward = args.forward;
  const int64_t width = forward.width, padded = PaddedWidth(width), length = LengthOf(forward, task.batch);
  const int64_t vectors = (width + kLanes - 1) / kLanes * kLanes;
  const Scratch scratch(memory, padded);
  std::fill(d_k, d_k + forward.keys * padded, 0.0f);
  std::fill(d_v, d_v + forward.keys * padded, 0.0f);
  for (int64_t unit = task.first; unit < args.units(); unit += task.step) {
    const int64_t query = unit % args.blocks() * kQ;
    const Block block = {task.batch, task.group * forward.shared() + unit / args.blocks(), query,
                         std::min(kQ, forward.queries - query)};
    const int64_t columns = (block.count + kLanes - 1) / kLanes * kLanes;
    Gather(args, block, scratch);
    std::fill(scratch.d_q_columns, scratch.d_q_columns + kQ * padded, 0.0f);
    const int64_t end = SeenBy(forward, length, query + block.count - 1).last;
    for (int64_t key = SeenBy(forward, length, query).first; key < end; key += kBackwardKeys) {
      const int64_t count = std::min(kBackwardKeys, end - key);
      const Chunk<T> chunk(forward, block, key, count, scratch);
      WeighChunk(forward, block, chunk, Slopes::kOfScores, scratch);
      Multiply<FloatSteps>(count, vectors, scratch.weights, kQ, scratch.d_out, padded, block.count, d_v + key * padded,
                           padded, true);
      Multiply<FloatSteps>(count, vectors, scratch.slopes, kQ, scratch.q, padded, block.count, d_k + key * padded,
                           padded, true);
      Multiply<TransposedFloatSteps>(width, columns, chunk.keys.data, chunk.keys.stride, scratch.slopes, kQ, count,
                                     scratch.d_q_columns, kQ, true);
    }
    WriteQueries(args, block, scratch);
  }
}

template <class Level, class T>
void AttentionMaskGradientRun(const AttentionGradientArgs<T>& args, const AttentionMaskTask& task, float* sums,
                              float* memory) {
  const AttentionArgs<T>& forward = args.forward;
  const Scratch scratch(memory, PaddedWidth(forward.width));
  float* const of_keys = sums + kQ * kMaskKeys;
  std::fill(of_keys, of_keys + kMaskKeys * kQ, 0.0f);
  for (int64_t batch = task.batch; batch < task.batch + task.batches; ++batch) {
    for (int64_t head = task.head; head < task.head + task.heads; ++head) {
      for (int64_t b = task.block; b < task.block + task.blocks; ++b) {
        const Block block = {batch, head, b * kQ, std::min(kQ, forward.queries - b * kQ)};
        Gather(args, block, scratch);
        const Chunk<T> chunk(forward, block, task.key, task.count, scratch);
        WeighChunk(forward, block, chunk, Slopes::kOfMask, scratch);
        for (int64_t j = 0; j < task.count; ++j) {
          const float* from = scratch.slopes + j * kQ;
          float* to = of_keys + j * kQ;
          ForRow<float>(block.count, [&](int64_t i, auto extent) {
            Put(to + i, extent, Get(to + i, extent) + Get(from + i, extent));
          });
        }
      }
    }
  }
  TransposeMatrix(of_keys, kMaskKeys, kQ, sums);
}

template <class Level, class T>
void AttentionGradientSum(const float* row, int64_t parts, int64_t stride, T* out, int64_t width) {
  ForRow<T>(width, [&](int64_t d, auto extent) {
    VF sum = {};
    for (int64_t p = 0; p < parts; ++p) sum += Get(row + p * stride + d, extent);
    Put(out + d, extent, sum);
  });
}

#define KK_INSTANTIATE(T)                                                                                          \
  template void AttentionGradientRun<KP_VARIANT, T>(const AttentionGradientArgs<T>&, const AttentionGradientTask&, \
                                                    float*, float*, float*);                                       \
  template void AttentionMaskGradientRun<KP_VARIANT, T>(const AttentionGradientArgs<T>&, const AttentionMaskTask&, \
                                                        float*, float*);                                           \
  template void AttentionGradientSum<KP_VARIANT, T>(const float*, int64_t, int64_t, T*, int64_t);
KK_ATTENTION_TYPES(KK_INSTANTIATE)

}  // namespace kk
