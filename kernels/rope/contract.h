// The contract of rope: one text for every device.
#pragma once

#define KK_ROPE_ANGLES "cos: f32[~..., S, R], sin: f32[~..., S, R], *, interleaved: bool"
#define KK_ROPE_TYPES " where T in {f32, f64, f16, bf16}, 2 * R <= D with graph_safe, deterministic"
#define KK_ROPE_CONTRACT                                                                             \
  "(x: T[..., S, H, D] strided, " KK_ROPE_ANGLES " = False) -> (out: T[..., S, H, D])" KK_ROPE_TYPES \
  ", invariant(batch), nondiff(cos, sin)"

#define KK_ROPE_BACKWARD_CONTRACT \
  "(d_out: T[..., S, H, D], " KK_ROPE_ANGLES ") -> (d_x: T[..., S, H, D])" KK_ROPE_TYPES ", nondiff(cos, sin)"
#define KK_ROPE_JVP_CONTRACT "(t_x: T[..., S, H, D], " KK_ROPE_ANGLES ") -> (t_out: T[..., S, H, D])" KK_ROPE_TYPES
#define KK_APPLY_ROPE_CONTRACT \
  "(x!: T[..., S, H, D] strided, " KK_ROPE_ANGLES " = False) -> ()" KK_ROPE_TYPES ", invariant(batch)"
