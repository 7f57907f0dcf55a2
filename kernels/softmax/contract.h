// softmax's contract: one text for every device.
#pragma once

#define KK_SOFTMAX_CONTRACT                                             \
  "(x: T[..., N], mask: M[~..., N]? = None) -> (probs: T[..., N]) "     \
  "where T in {f32, f64, f16, bf16}, M in {bool, f32, f64, f16, bf16} " \
  "with graph_safe, deterministic, invariant(batch)"

#define KK_SOFTMAX_BACKWARD_CONTRACT                                                                              \
  "(d_probs: T[..., N], probs: T[..., N]) -> (d_x: T[..., N]) where T in {f32, f64, f16, bf16} with graph_safe, " \
  "deterministic"

#define KK_FLOATS_TM "where T in {f32, f64, f16, bf16}, M in {f32, f64, f16, bf16} with graph_safe, deterministic"
#define KK_SOFTMAX_MASK_BACKWARD_CONTRACT \
  "(d_probs: T[..., N], probs: T[..., N], mask: M[*S]) -> (d_mask: M[*S]) " KK_FLOATS_TM
