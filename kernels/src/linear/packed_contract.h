// The contracts of products with packed weights: one text for every device.
#pragma once

#include <kernpack/kernel.h>

#include "activation.h"

#define KK_ACTIVATIONS "activation: str in {\"none\", \"relu\", \"silu\", \"gelu\", \"gelu_tanh\"}"
#define KK_PACKED_LINEAR_CONTRACT                                                              \
  "(x: T[..., K], weight: W[N, P], bias: T[N]? = None, residual: T[..., N]? = None, *, "       \
  "compute: str in {\"auto\", \"i8\", \"i16\", \"bf16\", \"f32\"} = \"auto\", " KK_ACTIVATIONS \
  " = \"none\") -> (out: T[..., N]) "                                                          \
  "where T in {f32, f16, bf16}, W in {u8, f32, f16, bf16}, N > 0 with deterministic"
#define KK_PACKED_EMBEDDING_CONTRACT                                                  \
  "(weight: u8[V, P], indices: I[...], *, columns: int) -> (out: f32[..., columns]) " \
  "where I in {i32, i64}, columns >= 0 with deterministic"

namespace kk {

namespace kp = kernpack;

// The signature has made sure that it is one of them.
inline Activation ActivationOf(kp::StringView name) {
  if (name == "relu") return Activation::kRelu;
  if (name == "silu") return Activation::kSilu;
  if (name == "gelu") return Activation::kGelu;
  if (name == "gelu_tanh") return Activation::kGeluTanh;
  return Activation::kNone;
}

}  // namespace kk
