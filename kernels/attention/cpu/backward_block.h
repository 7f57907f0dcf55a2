// A block of queries in the backward pass: what its rows have one of, its mask, and its keys, a chunk at a time.
#pragma once

#include "backward_products.h"

namespace kk {
namespace {

template <class T>
using GradientProducts =
    std::conditional_t<std::is_same_v<T, Bf16> && kHasBf16Products, PairGradient, FloatGradient<T>>;

// `memory`: AttentionGradientScratch.
template <class T, class Products>
class GradientBlock {
 public:
  GradientBlock(const AttentionGradientArgs<T>& args, float* memory)
      : args_(args),
        lse_(memory),
        delta_(lse_ + kQ),
        mask_rows_(delta_ + kQ),
        mask_(mask_rows_ + kQ * kMaskKeys),
        memory_(mask_ + kQ * kMaskKeys, args.forward.width),
        products_(memory_) {}

  void Set(const Block& block) {
    const AttentionArgs<T>& forward = args_.forward;
    block_ = block;
    std::fill(lse_, lse_ + kQ, 0.0f), std::fill(delta_, delta_ + kQ, 0.0f);
    const float* lse = args_.lse + (block.batch * forward.heads + block.head) * forward.queries + block.query;
    const int64_t at = Result(0);
    for (int64_t i = 0; i < block.count; ++i) {
      const T *d_out = args_.d_out + Result(i), *out = args_.out + Result(i);
      lse_[i] = lse[i];
      delta_[i] = static_cast<float>(RowSum<T>(
          forward.width, [&](int64_t d, auto extent) { return Get(d_out + d, extent) * Get(out + d, extent); }));
    }
    const AttentionStrides& of = forward.of_q;
    const T* q = forward.q + block.batch * of.batch + block.query * of.row + block.head * of.head;
    products_.SetBlock({q, of.row, block.count}, {args_.d_out + at, Result(1) - at, block.count}, forward.scale);
    std::fill(memory_.d_q, memory_.d_q + kQ * memory_.padded, 0.0f);
  }

  // True if the mask hides all of these keys from the block.
  bool Hidden(int64_t key, int64_t count) const {
    for (int64_t i = 0; i < block_.count; ++i) {
      if (!MaskHides(args_.forward.mask, block_.batch, block_.head, block_.query + i, key, count)) return false;
    }
    return true;
  }

  // Weights and slopes beside a chunk of keys.
  void SetKeys(int64_t key, int64_t count, Slopes wanted) {
    const AttentionArgs<T>& forward = args_.forward;
    const int64_t group = block_.head / forward.shared(), columns = (block_.count + kLanes - 1) / kLanes * kLanes;
    const auto rows = [&](const T* of, const AttentionStrides& by) {
      return Rows<T>{of + block_.batch * by.batch + group * by.head + key * by.row, by.row, count};
    };
    products_.SetKeys(rows(forward.k, forward.of_k), rows(forward.v, forward.of_v));
    products_.Scores(columns);
    const bool masked = forward.mask.kind != MaskKind::kNone;
    if (masked) GatherMask(forward, block_, key, count, mask_rows_, mask_);
    const ScoreRule rule = {Products::kScalesQueries ? 1 : forward.scale, forward.soft_cap, wanted};
    const int64_t length = GetLength(forward, block_.batch);
    const auto row_of = [&](int64_t j) {
      return KeyRow{memory_.scores + j * kQ, memory_.d_weights + j * kQ, masked ? mask_ + j * kQ : nullptr,
                    SeeingKey(forward, length, block_, key + j)};
    };
    products_.Weigh(columns, row_of, [&](const KeyRow& row, int64_t i) { return Weigh(row, i, lse_, delta_, rule); });
  }

  void AddTo(float* d_k, float* d_v) { products_.Add(d_k, d_v); }

  void WriteQueries() const {
    const float by = Products::kScalesQueries ? args_.forward.scale : 1;
    for (int64_t i = 0; i < block_.count; ++i) {
      const float* from = memory_.d_q + i * memory_.padded;
      ForRow<T>(memory_.width,
                [&](int64_t d, auto extent) { Put(args_.d_q + Result(i) + d, extent, Get(from + d, extent) * by); });
    }
  }

  const float* slopes(int64_t j) const { return memory_.d_weights + j * kQ; }  // of floats only

 private:
  // Where the results of the block's i-th query are.
  int64_t Result(int64_t i) const {
    const AttentionArgs<T>& forward = args_.forward;
    return ((block_.batch * forward.queries + block_.query + i) * forward.heads + block_.head) * forward.width;
  }

  const AttentionGradientArgs<T>& args_;
  Block block_ = {};
  float *lse_, *delta_, *mask_rows_, *mask_;
  GradientMemory memory_;
  Products products_;
};

// AttentionGradientRun by these products.
template <class T, class Products>
inline void RunGradient(const AttentionGradientArgs<T>& args, const AttentionGradientTask& task, float* d_k, float* d_v,
                        float* memory) {
  const AttentionArgs<T>& forward = args.forward;
  const int64_t padded = PaddedWidth(forward.width), length = GetLength(forward, task.batch);
  std::fill(d_k, d_k + forward.keys * padded, 0.0f);
  std::fill(d_v, d_v + forward.keys * padded, 0.0f);
  GradientBlock<T, Products> block(args, memory);
  for (int64_t unit = task.first; unit < args.units(); unit += task.step) {
    const int64_t query = unit % args.blocks() * kQ, count = std::min(kQ, forward.queries - query);
    block.Set({task.batch, task.group * forward.shared() + unit / args.blocks(), query, count});
    const int64_t end = SeenBy(forward, length, query + count - 1).last;
    for (int64_t key = SeenBy(forward, length, query).first; key < end; key += kBackwardKeys) {
      const int64_t keys = std::min(kBackwardKeys, end - key);
      if (block.Hidden(key, keys)) continue;
      block.SetKeys(key, keys, Slopes::kOfScores);
      block.AddTo(d_k + key * padded, d_v + key * padded);
    }
    block.WriteQueries();
  }
}

}  // namespace
}  // namespace kk
