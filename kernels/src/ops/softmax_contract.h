// softmax's contract: one text for every device.
#pragma once

#define KK_SOFTMAX_CONTRACT                                         \
  "(x: T[..., N], mask: M[~..., N]? = None) -> (probs: T[..., N]) " \
  "where T in {f32, f64, f16, bf16}, M in {bool, f32, f64, f16, bf16} with deterministic"
