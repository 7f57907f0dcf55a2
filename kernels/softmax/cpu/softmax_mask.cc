// The gradient of an additive mask of softmax: that of x, summed over what the mask was broadcast to.

#include "mask_groups.h"
#include "softmax/contract.h"
#include "softmax_second.h"

namespace kk {
namespace {

// scale * sums, in the mask's dtype.
template <class S>
void PutSums(const std::vector<S>& sums, S scale, kp::MutTensorView to) {
  kp::dispatch<float, double, kp::half, kp::bfloat16>(to.dtype(), [&](auto t) {
    using M = typename decltype(t)::type;
    for (size_t i = 0; i < sums.size(); ++i) Store(static_cast<double>(scale * sums[i]), Data<M>(to) + i);
  });
}

template <class Level>
void SoftmaxMaskBackward(kp::TensorView d_probs, kp::TensorView probs, kp::TensorView mask, kp::MutTensorView d_mask) {
  CheckMask("softmax_mask_backward", "mask", probs.sizes(), mask.sizes());
  DispatchFloat(probs.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using S = ComputeType<T>;
    const int64_t width = LastDim(probs);
    PutSums(SumOverRepeats<S>(MaskGroups(probs.sizes(), mask.sizes()), width,
                              [&](int64_t row, S* sums) {
                                SoftmaxBackwardAddRow<Level, T>(Data<T>(d_probs) + row * width,
                                                                Data<T>(probs) + row * width, sums, width);
                              }),
            S{2}, d_mask);
  });
}

void SoftmaxMaskBackwardJvp(kp::TensorView d_probs, kp::TensorView probs, kp::TensorView mask,
                            std::optional<kp::TensorView> t_d_probs, std::optional<kp::TensorView> t_probs,
                            std::optional<kp::TensorView>, kp::MutTensorView t_d_mask) {
  CheckMask("softmax_mask_backward_jvp", "mask", probs.sizes(), mask.sizes());
  DispatchFloat(probs.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    using R = Wide<T>;
    const int64_t width = LastDim(probs);
    PutSums(SumOverRepeats<R>(MaskGroups(probs.sizes(), mask.sizes()), width,
                              [&](int64_t row, R* sums) {
                                std::vector<Dual<R>> c(static_cast<size_t>(width)), p(c.size());
                                std::vector<R> tangent(c.size());
                                LoadRow(Data<T>(d_probs) + row * width, GetRow<T>(t_d_probs, row, width), width,
                                        c.data());
                                LoadRow(Data<T>(probs) + row * width, GetRow<T>(t_probs, row, width), width, p.data());
                                SoftmaxGradientTangent(c.data(), p.data(), width, tangent.data());
                                for (int64_t i = 0; i < width; ++i) sums[i] += tangent[static_cast<size_t>(i)];
                              }),
            R{1}, t_d_mask);
  });
}

}  // namespace
}  // namespace kk

KK_EXPORT(softmax_mask_backward, kk::SoftmaxMaskBackward, KK_SOFTMAX_MASK_BACKWARD_CONTRACT);
KP_GRAD(softmax, softmax_mask_backward);
KP_EXPORT(softmax_mask_backward_jvp, kk::SoftmaxMaskBackwardJvp,
          "(d_probs: T[..., N], probs: T[..., N], mask: M[*S], t_d_probs: T[..., N]?, t_probs: T[..., N]?, "
          "t_mask: M[*S]?) -> (t_d_mask: M[*S]) " KK_FLOATS_TM);
KP_JVP(softmax_mask_backward, softmax_mask_backward_jvp);

// It asks for the mask's shape only, so that its gradient there is zero.
KP_EXPORT(softmax_mask_backward_zero, kk::Zeros,
          "(mask: M[*S]) -> (d_mask: M[*S]) where M in {f32, f64, f16, bf16} with deterministic");
KP_GRAD(softmax_mask_backward, softmax_mask_backward_zero);
