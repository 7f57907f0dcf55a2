// The activations that a product ends with, as contracts name them, on every device. For the host alone: code of a CPU level or of a
// device has activation.h.
#pragma once

#include <kernpack/kernel.h>

#include "activation.h"

#define KK_ACTIVATIONS "activation: str in {\"none\", \"relu\", \"silu\", \"gelu\", \"gelu_tanh\"}"

namespace kk {

// The signature has made sure that it is one of them.
inline Activation ParseActivation(kernpack::StringView name) {
  if (name == "relu") return Activation::kRelu;
  if (name == "silu") return Activation::kSilu;
  if (name == "gelu") return Activation::kGelu;
  if (name == "gelu_tanh") return Activation::kGeluTanh;
  return Activation::kNone;
}

}  // namespace kk
