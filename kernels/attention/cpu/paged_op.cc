// paged_attention.
#include <cmath>

#include "tasks.h"
#include "paged_cache.h"
#include "attention/contract.h"

namespace kk {
namespace {

// Long sequences are cut into spans of so many keys, so that one query makes work for several threads. Where an item is cut
// depends on its own length alone: its result is the same in any batch and on any number of threads.
constexpr int64_t kSpan = 512;

struct Result {
  kp::TensorView q;
  kp::MutTensorView out;
  float scale;
};

template <class Level, class T, class C>
void Run(const PagedArgs<C>& args, const Result& to) {
  const int64_t batch = to.q.size(0), padded = PaddedWidth(args.width), heads = args.groups * args.shared;
  using RunLevel = PagedLevel<Level, T, C>;
  const int64_t per_block = std::max<int64_t>(1, AttentionRows<RunLevel>() / args.shared);
  const int64_t blocks = (args.queries + per_block - 1) / per_block, items = batch * args.groups * blocks;
  const int64_t rows = std::min(per_block, args.queries) * args.shared, longest = Longest(args, batch);
  const int64_t spans = std::max<int64_t>(1, (longest + kSpan - 1) / kSpan);
  const PagedQueries<T> queries = {Data<T>(to.q), {to.q.stride(0), to.q.stride(1), to.q.stride(2)}, to.scale};
  const auto task_of = [&](int64_t item, int64_t part) {
    const int64_t query = item % blocks * per_block, pair = item / blocks;
    return AttentionTask{pair / args.groups, pair % args.groups, query, std::min(per_block, args.queries - query),
                         part * kSpan,       (part + 1) * kSpan};
  };
  const int64_t state_size = rows * (padded + 2);
  const kp::Workspace states(kp::Device(), "paged states", static_cast<uint64_t>(items * spans * state_size * 4));
  const auto state_of = [&](int64_t item, int64_t part) {
    float* const first = states.data_as<float>() + item * spans * state_size;
    float* const largest = first + spans * rows * padded;
    return AttentionState{first + part * rows * padded, largest + part * rows, largest + (spans + part) * rows};
  };
  const int64_t work = rows * args.width * std::min(kSpan, std::max<int64_t>(1, longest)) * 2;
  kp::parallel_for(items * spans, std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(1, work)),
                   [&](int64_t begin, int64_t end) {
                     const kp::Workspace memory(kp::Device(), "paged attention",
                                                static_cast<uint64_t>(PagedScratch(rows, args.width) * 4));
                     for (int64_t t = begin; t < end; ++t) {
                       PagedRun<RunLevel, T, C>(args, queries, task_of(t / spans, t % spans),
                                                state_of(t / spans, t % spans), memory.data_as<float>());
                     }
                   });
  ForRows(items, spans * state_size, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const AttentionTask task = task_of(item, 0);
      const AttentionState state = state_of(item, 0);
      for (int64_t r = 0; r < task.count * args.shared; ++r) {
        const int64_t query = task.query + r % task.count, head = task.group * args.shared + r / task.count;
        AttentionMerge<typename RowLevel<Level>::Type, T>(
            state.sums + r * padded, state.largest + r, state.total + r, spans, rows * padded, rows,
            Data<T>(to.out) + ((task.batch * args.queries + query) * heads + head) * args.width, args.width);
      }
    }
  });
}

template <class Level>
void PagedAttention(kp::TensorView q, kp::TensorView k_cache, kp::TensorView v_cache, kp::TensorView block_table,
                    kp::TensorView lengths, std::optional<kp::TensorView> k_scales,
                    std::optional<kp::TensorView> v_scales, std::optional<kp::TensorView> sinks,
                    std::optional<double> scale, int64_t window, double soft_cap, kp::MutTensorView out) {
  CheckLastDim("k_cache", k_cache), CheckLastDim("v_cache", v_cache);
  const CompactRows rows_q(q);
  CheckSoftCap(soft_cap);
  CheckScales("k_scales", k_cache, k_scales.has_value()), CheckScales("v_scales", v_cache, v_scales.has_value());
  if (out.numel() == 0) return;
  CheckPages(k_cache, block_table, lengths, q.size(1));
  DispatchCache(k_cache.dtype(), [&](auto cache) {
    using C = typename decltype(cache)::Type;
    const PagedArgs<C> args = {MakeCache<C>(k_cache, k_scales),
                               MakeCache<C>(v_cache, v_scales),
                               k_cache.size(1),
                               k_cache.size(2),
                               k_cache.size(3),
                               q.size(1),
                               q.size(2) / k_cache.size(2),
                               Data<int32_t>(block_table),
                               block_table.size(1),
                               Data<int32_t>(lengths),
                               window,
                               GetSoftCap(soft_cap),
                               Data<float>(sinks)};
    const auto by = static_cast<float>(scale.value_or(1 / std::sqrt(static_cast<double>(args.width))));
    DispatchLinear(q.dtype(), [&](auto t) { Run<Level, typename decltype(t)::Type, C>(args, {q, out, by}); });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(paged_attention,
       "Attention of new queries, the last S of `lengths` tokens of each item, on a cache of pages: page i of item b "
       "is page block_table[b, i] of the cache. Each query attends to its own token and the tokens before it; `window` "
       "limits them to the last ones. Heads, scale, soft_cap and sinks are as in attention. A cache of i8 has scales, "
       "which paged_quantize writes.");
KK_EXPORT_MATRIX(paged_attention, kk::PagedAttention, KK_PAGED_ATTENTION_CONTRACT);
