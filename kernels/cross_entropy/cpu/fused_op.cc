// fused_linear_cross_entropy.
#include "fused.h"

#include <cmath>

#include "cross_entropy/contract.h"
#include "targets.h"

namespace kk {
namespace {

// Parts that the classes are cut into, by shape alone: threads take them, and sums of parts have one order.
constexpr int64_t kParts = 8;

// The tokens that have a target, packed.
template <class Level, class T>
class Problem {
 public:
  Problem(kp::TensorView x, kp::TensorView weight, const std::vector<int64_t>& targets,
          const CrossEntropyOptions& options) {
    for (size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] != kIgnored) index.push_back(static_cast<int64_t>(i)), targets_.push_back(targets[i]);
    }
    const auto tokens = static_cast<int64_t>(index.size());
    const int64_t width = LastDim(x);
    args = {Data<T>(weight), width, tokens, nullptr, nullptr, targets_.data(), options};
    const int64_t block_size = args.block_size();
    float* const rows = FloatScratch("fused x", 2 * args.blocks() * block_size);
    float* const columns = rows + args.blocks() * block_size;
    args.rows = rows, args.columns = columns;
    lanes = args.blocks() * kFusedTokens;
    for (int64_t b = 0; b < args.blocks(); ++b) {
      FusedPack<Level, T>(Data<T>(x), index.data() + b * kFusedTokens, Count(b), width, rows + b * block_size,
                          columns + b * block_size);
    }
    const int64_t blocks = (options.classes + kFusedClasses - 1) / kFusedClasses;
    parts = std::clamp<int64_t>(blocks, 1, kParts);
  }

  int64_t Count(int64_t block) const { return std::min(kFusedTokens, args.tokens - block * kFusedTokens); }

  // f(part, its first class, the one after its last, scratch memory), several at a time.
  template <class F>
  void ForParts(F f) const {
    const int64_t classes = args.options.classes, blocks = (classes + kFusedClasses - 1) / kFusedClasses;
    kp::parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
      float* const scratch = FloatScratch("fused part", FusedScratch(args.width));
      for (int64_t p = begin; p < end; ++p) {
        f(p, blocks * p / parts * kFusedClasses, std::min(classes, blocks * (p + 1) / parts * kFusedClasses), scratch);
      }
    });
  }

  FusedArgs<T> args = {};
  std::vector<int64_t> index;  // of each packed token among all
  int64_t lanes = 0, parts = 0;

 private:
  std::vector<int64_t> targets_;
};

template <class Level>
void FusedLinearCrossEntropy(kp::TensorView x, kp::TensorView weight, kp::TensorView targets, int64_t ignore_index,
                             double label_smoothing, double z_loss, kp::MutTensorView loss, kp::MutTensorView lse) {
  const CrossEntropyOptions options = CheckedOptions(weight.size(0), label_smoothing, z_loss);
  const std::vector<int64_t> target = Targets("fused_linear_cross_entropy", targets, options.classes, ignore_index);
  std::fill_n(Data<float>(loss), loss.numel(), 0.0f);
  std::fill_n(Data<float>(lse), lse.numel(), 0.0f);
  DispatchLogits(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using RunLevel = typename Bf16Level<Level, T>::Type;
    const Problem<RunLevel, T> problem(x, weight, target, options);
    const int64_t lanes = problem.lanes;
    float* const states = FloatScratch("fused states", (3 * problem.parts + 1) * lanes);
    float* const target_logits = states + 3 * problem.parts * lanes;
    problem.ForParts([&](int64_t part, int64_t first, int64_t last, float* scratch) {
      float* const state = states + 3 * part * lanes;
      FusedForward<RunLevel, T>(problem.args, first, last, {state, state + lanes, state + 2 * lanes}, target_logits,
                                scratch);
    });
    for (int64_t i = 0; i < problem.args.tokens; ++i) {
      const auto at = [&](int64_t part, int64_t what) { return double{states[(3 * part + what) * lanes + i]}; };
      double top = -INFINITY, total = 0, sum = 0;
      for (int64_t p = 0; p < problem.parts; ++p) top = std::max(top, at(p, 0));
      for (int64_t p = 0; p < problem.parts; ++p) {
        total += at(p, 1) == 0 ? 0 : at(p, 1) * std::exp(at(p, 0) - top);
        sum += at(p, 2);
      }
      const double log_sum = top + std::log(total);
      Data<float>(lse)[problem.index[i]] = static_cast<float>(log_sum);
      Data<float>(loss)[problem.index[i]] =
          static_cast<float>(options.Loss(log_sum, target_logits[i], sum / static_cast<double>(options.classes)));
    }
  });
}

template <class Level>
void FusedLinearCrossEntropyBackward(kp::TensorView d_loss, kp::TensorView x, kp::TensorView weight,
                                     kp::TensorView targets, kp::TensorView lse, int64_t ignore_index,
                                     double label_smoothing, double z_loss, kp::MutTensorView d_x,
                                     kp::MutTensorView d_weight) {
  const CrossEntropyOptions options = CheckedOptions(weight.size(0), label_smoothing, z_loss);
  const std::vector<int64_t> target =
      Targets("fused_linear_cross_entropy_backward", targets, options.classes, ignore_index);
  Zeros(x, d_x);
  DispatchLogits(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using RunLevel = typename Bf16Level<Level, T>::Type;
    const Problem<RunLevel, T> problem(x, weight, target, options);
    if (problem.args.tokens == 0) return Zeros(weight, d_weight);
    const int64_t lanes = problem.lanes, stride = problem.args.blocks() * problem.args.block_size();
    float* const slopes = FloatScratch("fused slopes", 4 * lanes);
    std::fill_n(slopes, lanes, INFINITY);
    std::fill_n(slopes + lanes, 3 * lanes, 0.0f);
    for (int64_t i = 0; i < problem.args.tokens; ++i) {
      slopes[i] = Data<float>(lse)[problem.index[i]];
      const CrossEntropySlope slope(options, Data<float>(d_loss)[problem.index[i]], slopes[i]);
      slopes[lanes + i] = slope.weight, slopes[2 * lanes + i] = slope.all, slopes[3 * lanes + i] = slope.target;
    }
    float* const sums = FloatScratch("fused d_x", problem.parts * stride);
    problem.ForParts([&](int64_t part, int64_t first, int64_t last, float* scratch) {
      FusedBackward<RunLevel, T>(problem.args, first, last,
                                 {slopes, slopes + lanes, slopes + 2 * lanes, slopes + 3 * lanes}, sums + part * stride,
                                 Data<T>(d_weight), scratch);
    });
    kp::parallel_for(problem.args.blocks(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        FusedUnpack<RunLevel, T>(sums + b * problem.args.block_size(), problem.parts, stride,
                                 problem.index.data() + b * kFusedTokens, problem.Count(b), problem.args.width,
                                 Data<T>(d_x));
      }
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(fused_linear_cross_entropy,
       "cross_entropy of the logits x weight^T. The logits are computed in parts, again in the backward "
       "pass, and never stored as a whole. Rows whose target is ignore_index aren't read.");
KK_EXPORT_BF16(fused_linear_cross_entropy, kk::FusedLinearCrossEntropy, KK_FUSED_LINEAR_CROSS_ENTROPY_CONTRACT);
KK_EXPORT_BF16(fused_linear_cross_entropy_backward, kk::FusedLinearCrossEntropyBackward,
               KK_FUSED_LINEAR_CROSS_ENTROPY_BACKWARD_CONTRACT);
KP_GRAD(fused_linear_cross_entropy, fused_linear_cross_entropy_backward);
