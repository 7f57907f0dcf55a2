// Attention as tasks of whole rows: no sequence is cut among threads, as decoding's must be.
#pragma once

#include <cmath>

#include "linear/cpu/dispatch.h"
#include "attention.h"

namespace kk {

// Writes the results of `args` to out[batch, queries, heads, width] and lse[batch, heads, queries]: of the query blocks of one item
// and group at a time.
template <class Level, class T>
class AttentionBlocks {
 public:
  AttentionBlocks(const AttentionArgs<T>& args, T* out, float* lse)
      : args_(args), out_(out), lse_(lse), per_block_(std::max<int64_t>(1, AttentionRows<Level>() / args.shared())) {}

  int64_t count() const { return args_.batch * args_.groups * blocks(); }

  void Run(int64_t item) const {
    const int64_t padded = PaddedWidth(args_.width), query = item % blocks() * per_block_, pair = item / blocks();
    const AttentionTask task = {
        pair / args_.groups, pair % args_.groups, query, std::min(per_block_, args_.queries - query), 0, args_.keys};
    const int64_t rows = task.count * args_.shared(), scratch = AttentionScratch(rows, args_.width);
    const kp::Workspace memory(kp::Device(), "attention blocks",
                               static_cast<uint64_t>(scratch + rows * (padded + 2)) * sizeof(float));
    float* const sums = memory.data_as<float>() + scratch;
    const AttentionState state = {sums, sums + rows * padded, sums + rows * (padded + 1)};
    AttentionRun<Level, T>(args_, task, state, memory.data_as<float>());
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t row = task.query + r % task.count, head = task.group * args_.shared() + r / task.count;
      lse_[(task.batch * args_.heads + head) * args_.queries + row] = AttentionMerge<Level, T>(
          state.sums + r * padded, state.largest + r, state.total + r, 1, 0, 0,
          out_ + ((task.batch * args_.queries + row) * args_.heads + head) * args_.width, args_.width);
    }
  }

 private:
  int64_t blocks() const { return (args_.queries + per_block_ - 1) / per_block_; }

  AttentionArgs<T> args_;
  T* out_;
  float* lse_;
  int64_t per_block_;
};

inline void CheckSoftCap(double soft_cap) {
  KP_CHECK(soft_cap >= 0, ValueError) << "soft_cap: expected a positive number, or 0 for none, got " << soft_cap;
}

// As AttentionArgs has it. A cap so large changes no score that a product of floats can have; a score divided by it would lose digits.
inline float GetSoftCap(double soft_cap) { return soft_cap > 0x1p100 ? 0.0f : static_cast<float>(soft_cap); }

inline float AttentionScale(const std::optional<double>& scale, int64_t width) {
  return static_cast<float>(scale.value_or(1 / std::sqrt(static_cast<double>(width))));
}

}  // namespace kk
