// Gradients of attention. Weights are computed again from the logarithm of their sum, 120 keys beside 64 queries at a time, with
// a row per key: what a query has one of (that logarithm, say) is then a lane, and no product needs a transposed weight.
#include "backward.h"

#include "../tiles/float_rows.h"
#include "../tiles/tile.h"
#include "../tiles/transpose.h"
#include "scores.h"

namespace kk {
namespace {

constexpr int64_t kQ = kBackwardQueries;

// The scratch memory of a task. q and d_out of a block of queries [kQ, padded], their transposes and that of d_q [padded, kQ];
// weights and their slopes [keys, kQ]; keys and values as floats.
struct Scratch {
  float *q, *d_out, *q_columns, *d_out_columns, *d_q_columns, *weights, *slopes, *keys, *values, *lse, *delta;
  Scratch(float* memory, int64_t padded)
      : q(memory),
        d_out(q + kQ * padded),
        q_columns(d_out + kQ * padded),
        d_out_columns(q_columns + kQ * padded),
        d_q_columns(d_out_columns + kQ * padded),
        weights(d_q_columns + kQ * padded),
        slopes(weights + kBackwardKeys * kQ),
        keys(slopes + kBackwardKeys * kQ),
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

// A key's scores to weights, and the gradients of its weights to those of its scores. Queries outside [first, last) don't see it.
inline void Weigh(float* weights, float* slopes, int64_t columns, int64_t first, int64_t last, float soft_cap,
                  const Scratch& of) {
  for (int64_t i = 0; i < columns; i += kLanes) {
    VF score = Pack<float>::Load(weights + i), slope = VF{} + 1;
    if (soft_cap > 0) {
      const VF t = Tanh(score / soft_cap);
      score = t * soft_cap, slope = 1 - t * t;
    }
    VF weight = Exp(score - Pack<float>::Load(of.lse + i));
    slope *= weight * (Pack<float>::Load(slopes + i) - Pack<float>::Load(of.delta + i));
    if (i < first || i + kLanes > last) {
      const VI lane = InFloat::LaneIndex() + static_cast<int32_t>(i);
      const VI seen = (lane >= static_cast<int32_t>(first)) & (lane < static_cast<int32_t>(last));
      weight = seen ? weight : VF{}, slope = seen ? slope : VF{};
    }
    Pack<float>::Store(weights + i, weight);
    Pack<float>::Store(slopes + i, slope);
  }
}

// The queries of a block that see a key are [first, last): what SeenBy says, the other way round.
template <class T>
Seen SeeingKey(const AttentionArgs<T>& args, int64_t keys, const Block& block, int64_t key) {
  if (!args.causal) return {0, block.count};  // all queries see the same keys
  const int64_t first = key - keys + args.queries - block.query;
  const int64_t last = args.window > 0 ? first + args.window : block.count;
  return {std::clamp<int64_t>(first, 0, block.count), std::clamp<int64_t>(last, 0, block.count)};
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
  const T* k = forward.k + task.batch * forward.of_k.batch + task.group * forward.of_k.head;
  const T* v = forward.v + task.batch * forward.of_v.batch + task.group * forward.of_v.head;
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
      const FloatRows<T> keys(k + key * forward.of_k.row, forward.of_k.row, count, width, scratch.keys);
      const FloatRows<T> values(v + key * forward.of_v.row, forward.of_v.row, count, width, scratch.values);
      Multiply<FloatSteps>(count, columns, keys.data, keys.stride, scratch.q_columns, kQ, width, scratch.weights, kQ,
                           false);
      Multiply<FloatSteps>(count, columns, values.data, values.stride, scratch.d_out_columns, kQ, width, scratch.slopes,
                           kQ, false);
      for (int64_t j = 0; j < count; ++j) {
        const Seen by = SeeingKey(forward, length, block, key + j);
        Weigh(scratch.weights + j * kQ, scratch.slopes + j * kQ, columns, by.first, by.last, forward.soft_cap, scratch);
      }
      Multiply<FloatSteps>(count, vectors, scratch.weights, kQ, scratch.d_out, padded, block.count, d_v + key * padded,
                           padded, true);
      Multiply<FloatSteps>(count, vectors, scratch.slopes, kQ, scratch.q, padded, block.count, d_k + key * padded,
                           padded, true);
      Multiply<TransposedFloatSteps>(width, columns, keys.data, keys.stride, scratch.slopes, kQ, count,
                                     scratch.d_q_columns, kQ, true);
    }
    WriteQueries(args, block, scratch);
  }
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
  template void AttentionGradientSum<KP_VARIANT, T>(const float*, int64_t, int64_t, T*, int64_t);
KK_ATTENTION_TYPES(KK_INSTANTIATE)

}  // namespace kk
