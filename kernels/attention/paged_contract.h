// The contracts of paged_attention: one text for every device.
#pragma once

#define KK_PAGED_ATTENTION_CONTRACT                                                                                  \
  "(q: T[B, S, H, D] strided, k_cache: C[P, R, G, D] strided, v_cache: C[P, R, G, D] strided, "                      \
  "block_table: i32[B, M], lengths: i32[B], k_scales: f32[P, R, G]? = None, v_scales: f32[P, R, G]? = None, "        \
  "sinks: f32[H]? = None, *, scale: float? = None, window: int = 0, soft_cap: float = 0.0) -> (out: T[B, S, H, D]) " \
  "where T in {f32, f16, bf16}, C in {f32, f16, bf16, i8}, R > 0, G > 0, H % G == 0, window >= 0 "                   \
  "with graph_safe, deterministic, invariant(B)"
