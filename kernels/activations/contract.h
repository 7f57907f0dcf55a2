// The contracts of activations: one text for every device.
#pragma once

#define KK_GATED_FLOATS "where T in {f32, f64, f16, bf16} with graph_safe, deterministic"

#define KK_GATED_FORWARD KK_GATED_FLOATS ", invariant(batch)"

#define KK_SWIGLU_CONTRACT "(gate: T[..., D] strided, up: T[..., D] strided) -> (out: T[..., D]) " KK_GATED_FORWARD
#define KK_GEGLU_CONTRACT                                                                                     \
  "(gate: T[..., D] strided, up: T[..., D] strided, *, approximate: str in {\"none\", \"tanh\"} = \"none\") " \
  "-> (out: T[..., D]) " KK_GATED_FORWARD
#define KK_ROW_ACTIVATION_CONTRACT "(x: T[..., D] strided) -> (out: T[..., D]) " KK_GATED_FORWARD
#define KK_GELU_CONTRACT \
  "(x: T[...], *, approximate: str in {\"none\", \"tanh\"} = \"none\") -> (out: T[...]) " KK_GATED_FORWARD

#define KK_SWIGLU_BACKWARD_CONTRACT                                     \
  "(d_out: T[..., D], gate: T[..., D] strided, up: T[..., D] strided) " \
  "-> (d_gate: T[..., D], d_up: T[..., D]) " KK_GATED_FLOATS ", nondiff(d_out, gate, up)"
#define KK_GEGLU_BACKWARD_CONTRACT                                                                        \
  "(d_out: T[..., D], gate: T[..., D] strided, up: T[..., D] strided, *, approximate: str in {\"none\", " \
  "\"tanh\"}) -> (d_gate: T[..., D], d_up: T[..., D]) " KK_GATED_FLOATS ", nondiff(d_out, gate, up)"
#define KK_ROW_ACTIVATION_BACKWARD_CONTRACT \
  "(d_out: T[..., D], x: T[..., D] strided) -> (d_x: T[..., D]) " KK_GATED_FLOATS ", nondiff(d_out, x)"
#define KK_GELU_BACKWARD_CONTRACT \
  "(d_out: T[...], x: T[...], *, approximate: str in {\"none\", \"tanh\"}) -> (d_x: T[...]) " KK_GATED_FLOATS
// Element by element: tangents and gradients are both multiplied by the derivative.
#define KK_GELU_JVP_CONTRACT \
  "(t_x: T[...], x: T[...], *, approximate: str in {\"none\", \"tanh\"}) -> (t_out: T[...]) " KK_GATED_FLOATS
