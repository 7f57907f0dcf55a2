// cross_entropy. Fused with the product that makes the logits: fused_op.cc.
#include "common/cpu/strided.h"
#include "cross_entropy/contract.h"
#include "targets.h"

namespace kk {
namespace {

template <class Level>
void CrossEntropy(kp::TensorView logits, kp::TensorView targets, int64_t ignore_index, double label_smoothing,
                  double z_loss, kp::MutTensorView loss, kp::MutTensorView lse) {
  const CrossEntropyOptions options = CheckedOptions(LastDim(logits), label_smoothing, z_loss);
  const std::vector<int64_t> target = Targets("cross_entropy", targets, options.classes, ignore_index);
  DispatchLogits(logits.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const StridedRows<T> rows(logits);
    ForRows(targets.numel(), options.classes, [&](int64_t begin, int64_t end) {
      std::vector<T> copy;
      for (int64_t r = begin; r < end; ++r) {
        float* const to = Data<float>(loss) + r;
        Data<float>(lse)[r] = *to = 0;
        if (target[r] == kIgnored) continue;
        *to = CrossEntropyRow<Level, T>(options, rows.Row(r, copy), target[r], Data<float>(lse) + r);
      }
    });
  });
}

template <class Level>
void CrossEntropyBackward(kp::TensorView d_loss, kp::TensorView logits, kp::TensorView targets, kp::TensorView lse,
                          int64_t ignore_index, double label_smoothing, double z_loss, kp::MutTensorView d_logits) {
  const CrossEntropyOptions options = CheckedOptions(LastDim(logits), label_smoothing, z_loss);
  const std::vector<int64_t> target = Targets("cross_entropy_backward", targets, options.classes, ignore_index);
  DispatchLogits(logits.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const StridedRows<T> rows(logits);
    ForRows(targets.numel(), options.classes, [&](int64_t begin, int64_t end) {
      std::vector<T> copy;
      for (int64_t r = begin; r < end; ++r) {
        T* const to = Data<T>(d_logits) + r * options.classes;
        if (target[r] == kIgnored) {
          std::memset(to, 0, static_cast<size_t>(options.classes) * sizeof(T));
        } else {
          CrossEntropyBackwardRow<Level, T>(options, Data<float>(d_loss)[r], rows.Row(r, copy), target[r],
                                            Data<float>(lse)[r], to);
        }
      }
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(cross_entropy,
       "For each row of logits: log(sum(exp(logits))) - logits[target]. label_smoothing moves that part of "
       "the target's weight to all classes equally; z_loss adds z_loss * log(sum(exp(logits)))^2. A row "
       "whose target is ignore_index has loss 0 and no gradient. The losses aren't reduced: for the mean, "
       "divide their sum by the number of targets.");
KK_EXPORT(cross_entropy, kk::CrossEntropy, KK_CROSS_ENTROPY_CONTRACT);
KK_EXPORT(cross_entropy_backward, kk::CrossEntropyBackward, KK_CROSS_ENTROPY_BACKWARD_CONTRACT);
KP_GRAD(cross_entropy, cross_entropy_backward);
