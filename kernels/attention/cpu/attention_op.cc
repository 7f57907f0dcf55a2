// attention. Its gradient: backward_op.cc.
#include "call.h"
#include "attention/contract.h"

namespace kk {
namespace {

// Keys beside which a task works: long sequences are cut, so that few queries still make work for several threads. The cut
// follows from shapes alone, and with it the result.
constexpr int64_t kSpan = 512;
constexpr int64_t kEnoughTasks = 16;

template <class Level, class T>
void Run(const AttentionArgs<T>& args, T* out, float* lse) {
  const int64_t shared = args.shared(), padded = PaddedWidth(args.width);
  const int64_t per_block = std::max<int64_t>(1, AttentionRows<Level>() / shared);
  const int64_t blocks = (args.queries + per_block - 1) / per_block;
  const int64_t items = args.batch * args.groups * blocks;
  const int64_t spans = items < kEnoughTasks ? std::max<int64_t>(1, (args.keys + kSpan - 1) / kSpan) : 1;
  const int64_t span = spans > 1 ? kSpan : std::max<int64_t>(1, args.keys);
  const int64_t rows = std::min(per_block, args.queries) * shared;
  const auto task_of = [&](int64_t item, int64_t part) {
    const int64_t query = item % blocks * per_block, pair = item / blocks;
    return AttentionTask{pair / args.groups,
                         pair % args.groups,
                         query,
                         std::min(per_block, args.queries - query),
                         part * span,
                         std::min(args.keys, (part + 1) * span)};
  };
  const auto merge = [&](int64_t item, const AttentionState& state) {
    const AttentionTask task = task_of(item, 0);
    for (int64_t r = 0; r < task.count * shared; ++r) {
      const int64_t query = task.query + r % task.count, head = task.group * shared + r / task.count;
      lse[(task.batch * args.heads + head) * args.queries + query] = AttentionMerge<Level, T>(
          state.sums + r * padded, state.largest + r, state.total + r, spans, rows * padded, rows,
          out + ((task.batch * args.queries + query) * args.heads + head) * args.width, args.width);
    }
  };
  // States of all tasks where they are put together afterwards, else of the one at work, in the thread's own memory.
  const int64_t state_size = rows * (padded + 2);
  float* shared_states = spans > 1 ? FloatScratch("attention states", items * spans * state_size) : nullptr;
  const auto state_of = [&](float* memory, int64_t count, int64_t at) {
    float* const largest = memory + count * rows * padded;
    return AttentionState{memory + at * rows * padded, largest + at * rows, largest + (count + at) * rows};
  };
  const int64_t work = rows * args.width * std::min(span, args.keys) * 2;
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 17) / std::max<int64_t>(1, work));
  kp::parallel_for(items * spans, grain, [&](int64_t begin, int64_t end) {
    const int64_t needed = AttentionScratch(rows, args.width);
    float* memory = FloatScratch("attention", needed + state_size);
    for (int64_t t = begin; t < end; ++t) {
      const int64_t item = t / spans, part = t % spans;
      const AttentionState state = spans > 1 ? state_of(shared_states + item * spans * state_size, spans, part)
                                             : state_of(memory + needed, 1, 0);
      AttentionRun<Level, T>(args, task_of(item, part), state, memory);
      if (spans == 1) merge(item, state);
    }
  });
  if (spans == 1) return;
  for (int64_t item = 0; item < items; ++item) {
    merge(item, state_of(shared_states + item * spans * state_size, spans, 0));
  }
}

template <class Level>
void Attention(kp::TensorView q, kp::TensorView k, kp::TensorView v, std::optional<kp::TensorView> lengths,
               std::optional<kp::TensorView> sinks, std::optional<double> scale, bool causal, int64_t window,
               double soft_cap, kp::MutTensorView context, kp::MutTensorView lse) {
  const AttentionOptions options = {lengths, scale, causal, window, soft_cap, sinks};
  CheckAttention(options, k);
  const CompactRows rows_q(q), rows_k(k), rows_v(v);
  if (q.numel() == 0) {
    std::fill_n(Data<float>(lse), lse.numel(), 0.0f);
    return;
  }
  DispatchAttention(q, k, v, options, [&](auto args) {
    using T = std::decay_t<decltype(*args.q)>;
    Run<typename Bf16Level<Level, T>::Type, T>(args, Data<T>(context), Data<float>(lse));
  });
}

}  // namespace
}  // namespace kk

KP_DOC(attention,
       "softmax(scale q k^T) v for each head, without storing the matrix of scores. Each H / G consecutive "
       "heads of q share a head of k and v. causal: query i of S attends to the first L - S + i + 1 of L "
       "keys. window: only to the last `window` of these. soft_cap: a score becomes soft_cap * tanh(score "
       "/ soft_cap). lengths: the number of keys of each batch item; the other keys aren't read. sinks: a "
       "score for each head that takes part in the softmax, and has no value. A query without keys gives "
       "zeros.");
KK_EXPORT_MATRIX(attention, kk::Attention, KK_ATTENTION_CONTRACT);
