// The contracts of adamw, lion, sgd and clip_grad_norm: one text for every device.
#pragma once

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
