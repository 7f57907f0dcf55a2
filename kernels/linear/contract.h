// The contracts of products with packed weights: one text for every device.
#pragma once

#include "activation_name.h"

#define KK_PACKED_LINEAR_CONTRACT                                                              \
  "(x: T[..., K], weight: W[N, P], bias: T[N]? = None, residual: T[..., N]? = None, *, "       \
  "compute: str in {\"auto\", \"i8\", \"i16\", \"bf16\", \"f32\"} = \"auto\", " KK_ACTIVATIONS \
  " = \"none\") -> (out: T[..., N]) "                                                          \
  "where T in {f32, f16, bf16}, W in {u8, f32, f16, bf16}, N > 0 with graph_safe, deterministic"
#define KK_PACKED_EMBEDDING_CONTRACT                                                 \
  "(weight: W[V, P], indices: I[...], *, columns: int) -> (out: f32[..., columns]) " \
  "where W in {u8, f32, f16, bf16}, I in {i32, i64}, columns >= 0 "                  \
  "with graph_safe, deterministic, invariant(batch)"
