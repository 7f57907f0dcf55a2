// The contracts of activations: one text for every device.
#pragma once

#define KK_GATED_FLOATS "where T in {f32, f64, f16, bf16} with deterministic"

#define KK_SWIGLU_CONTRACT "(gate: T[..., D] strided, up: T[..., D] strided) -> (out: T[..., D]) " KK_GATED_FLOATS
#define KK_GEGLU_CONTRACT                                                                                     \
  "(gate: T[..., D] strided, up: T[..., D] strided, *, approximate: str in {\"none\", \"tanh\"} = \"none\") " \
  "-> (out: T[..., D]) " KK_GATED_FLOATS
#define KK_ROW_ACTIVATION_CONTRACT "(x: T[..., D] strided) -> (out: T[..., D]) " KK_GATED_FLOATS
#define KK_GELU_CONTRACT \
  "(x: T[...], *, approximate: str in {\"none\", \"tanh\"} = \"none\") -> (out: T[...]) " KK_GATED_FLOATS
