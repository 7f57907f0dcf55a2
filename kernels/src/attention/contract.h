// The contracts of attention and masked_attention: one text for every device.
#pragma once

#define KK_ATTENTION_CONTRACT                                                                                   \
  "(q: T[B, S, H, D] strided, k: T[B, L, G, D] strided, v: T[B, L, G, D] strided, lengths: i32[B]? = None, *, " \
  "scale: float? = None, causal: bool = False, window: int = 0, soft_cap: float = 0.0) "                        \
  "-> (context: T[B, S, H, D], lse: f32[B, H, S] aux) where T in {f32, f16, bf16}, G > 0, H % G == 0, window "  \
  ">= 0 with deterministic"

#define KK_MASKED_ATTENTION_CONTRACT                                                                                  \
  "(q: T[B, S, H, D] strided, k: T[B, L, G, D] strided, v: T[B, L, G, D] strided, mask: M[X, Y, Z, L] strided, *, "   \
  "scale: float? = None, causal: bool = False, window: int = 0, soft_cap: float = 0.0) "                              \
  "-> (context: T[B, S, H, D], lse: f32[B, H, S] aux) where T in {f32, f16, bf16}, M in {bool, f32, f16, bf16}, G > " \
  "0, H % G == 0, window >= 0 with deterministic"
