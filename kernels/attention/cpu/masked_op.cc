// masked_attention and its gradients.
#include <vector>

#include "common/cpu/values.h"
#include "backward_run.h"
#include "call.h"
#include "attention/contract.h"
#include "tasks.h"

namespace kk {
namespace {

template <class Level>
void MaskedAttention(kp::TensorView q, kp::TensorView k, kp::TensorView v, kp::TensorView mask,
                     std::optional<kp::TensorView> sinks, std::optional<double> scale, bool causal, int64_t window,
                     double soft_cap, kp::MutTensorView context, kp::MutTensorView lse) {
  const CompactRows rows_q(q), rows_k(k), rows_v(v), rows_mask(mask);
  const AttentionOptions options = {std::nullopt, scale, causal, window, soft_cap, sinks, mask};
  CheckAttention(options, k);
  DispatchAttention(q, k, v, options, [&](auto args) {
    using T = std::decay_t<decltype(*args.q)>;
    if (context.numel() == 0) {
      std::fill_n(Data<float>(lse), lse.numel(), 0.0f);
      return;
    }
    const AttentionBlocks<typename Bf16Level<Level, T>::Type, T> work(args, Data<T>(context), Data<float>(lse));
    kp::parallel_for(work.count(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) work.Run(i);
    });
  });
}

template <class Level>
void MaskedAttentionBackward(kp::TensorView d_context, kp::TensorView q, kp::TensorView k, kp::TensorView v,
                             kp::TensorView mask, kp::TensorView context, kp::TensorView lse,
                             std::optional<double> scale, bool causal, int64_t window, double soft_cap,
                             kp::MutTensorView d_q, kp::MutTensorView d_k, kp::MutTensorView d_v) {
  const CompactRows rows_q(q), rows_k(k), rows_v(v), rows_mask(mask);
  const AttentionOptions options = {std::nullopt, scale, causal, window, soft_cap, std::nullopt, mask};
  CheckAttention(options, k);
  if (q.numel() == 0 || k.numel() == 0) return Zeros(q, d_q), Zeros(k, d_k), Zeros(v, d_v);
  DispatchAttention(q, k, v, options, [&](auto args) {
    using T = std::decay_t<decltype(*args.q)>;
    RunAttentionGradient<typename Bf16Level<Level, T>::Type, T>(
        {args, Data<T>(d_context), Data<T>(context), Data<float>(lse), Data<T>(d_q)}, Data<T>(d_k), Data<T>(d_v));
  });
}

// The sums of a task, as rows of the mask: of one query, or of all queries if the mask has one row for them.
template <class M>
void WriteMask(const float* sums, int64_t count, int64_t queries, bool one_row, M* to, int64_t keys) {
  if (one_row) {
    double total[kMaskKeys] = {};
    for (int64_t i = 0; i < std::min(queries, kBackwardQueries); ++i) {
      for (int64_t j = 0; j < count; ++j) total[j] += sums[i * kMaskKeys + j];
    }
    for (int64_t j = 0; j < count; ++j) Store(total[j], to + j);
    return;
  }
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t j = 0; j < count; ++j) Store(static_cast<double>(sums[i * kMaskKeys + j]), to + i * keys + j);
  }
}

// Each part of the mask is one task, which sums over all that share it: no two tasks write to the same place, and the order of sums
// follows from shapes alone.
template <class Level>
void MaskedAttentionMaskBackward(kp::TensorView d_context, kp::TensorView q, kp::TensorView k, kp::TensorView v,
                                 kp::TensorView mask, kp::TensorView context, kp::TensorView lse,
                                 std::optional<double> scale, bool causal, int64_t window, double soft_cap,
                                 kp::MutTensorView d_mask) {
  const CompactRows rows_q(q), rows_k(k), rows_v(v), rows_mask(mask);
  const AttentionOptions options = {std::nullopt, scale, causal, window, soft_cap, std::nullopt, mask};
  CheckAttention(options, k);
  if (q.numel() == 0 || d_mask.numel() == 0) return Zeros(mask, d_mask);
  DispatchAttention(q, k, v, options, [&](auto args) {
    using T = std::decay_t<decltype(*args.q)>;
    const AttentionGradientArgs<T> gradient = {args, Data<T>(d_context), Data<T>(context), Data<float>(lse), nullptr};
    const bool one_row = mask.size(2) == 1;
    const int64_t blocks = one_row ? 1 : gradient.blocks(), chunks = (args.keys + kBackwardKeys - 1) / kBackwardKeys;
    kp::parallel_for(mask.size(0) * mask.size(1) * blocks * chunks, 1, [&](int64_t begin, int64_t end) {
      constexpr int64_t kSums = 2 * kMaskKeys * kBackwardQueries;
      float* const sums = FloatScratch("attention mask gradient", kSums + AttentionGradientScratch(args.width));
      for (int64_t t = begin; t < end; ++t) {
        const int64_t key = t % chunks * kBackwardKeys, block = t / chunks % blocks;
        const int64_t pair = t / chunks / blocks, head = pair % mask.size(1), batch = pair / mask.size(1);
        const AttentionMaskTask task = {
            batch, mask.size(0) == 1 ? args.batch : 1, head, mask.size(1) == 1 ? args.heads : 1,
            block, one_row ? gradient.blocks() : 1,    key,  std::min(kBackwardKeys, args.keys - key)};
        AttentionMaskGradientRun<Level, T>(gradient, task, sums, sums + kSums);
        const int64_t query = block * kBackwardQueries;
        const int64_t queries = one_row ? args.queries : std::min(kBackwardQueries, args.queries - query);
        DispatchLinear(mask.dtype(), [&](auto tag) {
          using M = typename decltype(tag)::Type;
          M* const to = Data<M>(d_mask) + (pair * mask.size(2) + query) * args.keys + key;
          WriteMask(sums, task.count, queries, one_row, to, args.keys);
        });
      }
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(masked_attention,
       "attention with a mask; dimensions of the mask may be 1. A boolean mask keeps the scores where it "
       "is True; any other mask is added to the scores, after soft_cap. It can't bring back what causal "
       "and window leave out. A query without keys gives zeros.");
KK_EXPORT_MATRIX(masked_attention, kk::MaskedAttention, KK_MASKED_ATTENTION_CONTRACT);

KK_EXPORT_BF16(masked_attention_backward, kk::MaskedAttentionBackward, KK_MASKED_ATTENTION_BACKWARD_CONTRACT);
KP_GRAD(masked_attention, masked_attention_backward);
KK_EXPORT(masked_attention_mask_backward, kk::MaskedAttentionMaskBackward, KK_MASKED_ATTENTION_MASK_BACKWARD_CONTRACT);
KP_GRAD(masked_attention, masked_attention_mask_backward);
