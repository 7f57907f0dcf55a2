// The contracts of adamw, lion, sgd and clip_grad_norm, and checks of their options: one text for every device.
#pragma once

#include <kernpack/kernel.h>

#define KK_OPTIMIZER_TYPES_TEXT " where T in {f32, f16, bf16} with graph_safe, deterministic"
#define KK_ADAMW_CONTRACT                                                                                      \
  "(params!: list[T[_]], grads: list[T[_]], exp_avg!: list[f32[_]], exp_avg_sq!: list[f32[_]], step: i32[], "  \
  "lr: f32[], *, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8, weight_decay: float = 0.01) -> " \
  "()" KK_OPTIMIZER_TYPES_TEXT
#define KK_LION_CONTRACT                                                                                \
  "(params!: list[T[_]], grads: list[T[_]], exp_avg!: list[f32[_]], lr: f32[], *, beta1: float = 0.9, " \
  "beta2: float = 0.99, weight_decay: float = 0.0) -> ()" KK_OPTIMIZER_TYPES_TEXT
#define KK_SGD_CONTRACT                                                                                    \
  "(params!: list[T[_]], grads: list[T[_]], momenta!: list[f32[_]], lr: f32[], *, momentum: float = 0.0, " \
  "weight_decay: float = 0.0, nesterov: bool = False) -> ()" KK_OPTIMIZER_TYPES_TEXT
#define KK_CLIP_GRAD_NORM_CONTRACT "(grads!: list[T[_]], *, max_norm: float) -> (norm: f32[])" KK_OPTIMIZER_TYPES_TEXT

namespace kk {

// Checks lists and options of the optimizers, on every device.
namespace kp = kernpack;

using Tensors = kp::ListView<kp::TensorView>;
using MutTensors = kp::ListView<kp::MutTensorView>;

template <class List>
void CheckSizes(const MutTensors& params, const char* name, const List& list) {
  KP_CHECK(list.size() == params.size(), ValueError)
      << name << ": expected as many tensors as params has, " << params.size() << ", got " << list.size();
  for (size_t i = 0; i < params.size(); ++i) {
    KP_CHECK(list[i].numel() == params[i].numel(), ValueError)
        << name << ": item " << i << ": expected " << params[i].numel() << " numbers, as item " << i
        << " of params has, got " << list[i].numel();
  }
}

inline void CheckFraction(const char* name, double value) {
  KP_CHECK(value >= 0 && value < 1, ValueError) << name << ": expected a number from 0 to below 1, got " << value;
}

inline void CheckMaxNorm(double max_norm) {
  KP_CHECK(max_norm >= 0, ValueError) << "max_norm: expected a number of at least 0, got " << max_norm;
}

}  // namespace kk
