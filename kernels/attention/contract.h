// The contracts of attention, masked_attention and their gradients, and of paged_attention: one text for every device.
#pragma once

#define KK_ATTENTION_CONTRACT                                                                                      \
  "(q: T[B, S, H, D] strided, k: T[B, L, G, D] strided, v: T[B, L, G, D] strided, lengths: i32[B]? = None, "       \
  "sinks: f32[H]? = None, *, scale: float? = None, causal: bool = False, window: int = 0, soft_cap: float = 0.0) " \
  "-> (context: T[B, S, H, D], lse: f32[B, H, S] aux) where T in {f32, f16, bf16}, G > 0, H % G == 0, window "     \
  ">= 0 with graph_safe, deterministic"

#define KK_MASKED_ATTENTION_CONTRACT                                                                                  \
  "(q: T[B, S, H, D] strided, k: T[B, L, G, D] strided, v: T[B, L, G, D] strided, mask: M[X, Y, Z, L] strided, "      \
  "sinks: f32[H]? = None, *, scale: float? = None, causal: bool = False, window: int = 0, soft_cap: float = 0.0) "    \
  "-> (context: T[B, S, H, D], lse: f32[B, H, S] aux) where T in {f32, f16, bf16}, M in {bool, f32, f16, bf16}, G > " \
  "0, H % G == 0, window >= 0 with graph_safe, deterministic, invariant(B)"

#define KK_ATTENTION_BACKWARD_CONTRACT                                                                         \
  "(d_context: T[B, S, H, D], q: T[B, S, H, D] strided, k: T[B, L, G, D] strided, v: T[B, L, G, D] strided, "  \
  "context: T[B, S, H, D], lse: f32[B, H, S], lengths: i32[B]?, *, scale: float?, causal: bool, window: int, " \
  "soft_cap: float) -> (d_q: T[B, S, H, D], d_k: T[B, L, G, D], d_v: T[B, L, G, D]) "                          \
  "where T in {f32, f16, bf16}, G > 0, H % G == 0, window >= 0 "                                               \
  "with graph_safe, deterministic, nondiff(d_context, q, k, v, context, lse)"

#define KK_MASKED_BACKWARD                                                                                    \
  "(d_context: T[B, S, H, D], q: T[B, S, H, D] strided, k: T[B, L, G, D] strided, v: T[B, L, G, D] strided, " \
  "mask: M[X, Y, Z, L] strided, context: T[B, S, H, D], lse: f32[B, H, S], *, scale: float?, causal: bool, "  \
  "window: int, soft_cap: float) "
#define KK_MASKED_DIMS \
  "G > 0, H % G == 0, window >= 0 with graph_safe, deterministic, nondiff(d_context, q, k, v, mask, context, lse)"
#define KK_MASKED_ATTENTION_BACKWARD_CONTRACT                                                     \
  KK_MASKED_BACKWARD                                                                              \
  "-> (d_q: T[B, S, H, D], d_k: T[B, L, G, D], d_v: T[B, L, G, D]) where T in {f32, f16, bf16}, " \
  "M in {bool, f32, f16, bf16}, " KK_MASKED_DIMS
#define KK_MASKED_ATTENTION_MASK_BACKWARD_CONTRACT \
  KK_MASKED_BACKWARD "-> (d_mask: M[X, Y, Z, L]) where T in {f32, f16, bf16}, M in {f32, f16, bf16}, " KK_MASKED_DIMS

#define KK_ATTENTION_SINKS_BACKWARD_CONTRACT                                                                   \
  "(d_context: T[B, S, H, D], context: T[B, S, H, D], lse: f32[B, H, S], sinks: f32[H]) -> (d_sinks: f32[H]) " \
  "where T in {f32, f16, bf16} with graph_safe, deterministic, nondiff(d_context, context, lse, sinks)"

#define KK_PAGED_ATTENTION_CONTRACT                                                                                  \
  "(q: T[B, S, H, D] strided, k_cache: C[P, R, G, D] strided, v_cache: C[P, R, G, D] strided, "                      \
  "block_table: i32[B, M], lengths: i32[B], k_scales: f32[P, R, G]? = None, v_scales: f32[P, R, G]? = None, "        \
  "sinks: f32[H]? = None, *, scale: float? = None, window: int = 0, soft_cap: float = 0.0) -> (out: T[B, S, H, D]) " \
  "where T in {f32, f16, bf16}, C in {f32, f16, bf16, i8}, R > 0, G > 0, H % G == 0, window >= 0 "                   \
  "with graph_safe, deterministic, invariant(B)"
