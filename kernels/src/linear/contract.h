// What the contracts of products share: dtypes and activations.
#pragma once

#include "../ops/common.h"
#include "linear.h"

#define KK_ACTIVATIONS "activation: str in {\"none\", \"relu\", \"silu\", \"gelu\", \"gelu_tanh\"}"

namespace kk {

// f(Tag<T>) with the type that activations of `dtype` are stored as.
template <class F>
void DispatchLinear(kp::DType dtype, F f) {
  kp::dispatch<float, kp::half, kp::bfloat16>(
      dtype, [&](auto t) { f(Tag<typename Storage<typename decltype(t)::type>::Type>()); });
}

// The signature has made sure that it is one of them.
inline Activation ActivationOf(kp::StringView name) {
  if (name == "relu") return Activation::kRelu;
  if (name == "silu") return Activation::kSilu;
  if (name == "gelu") return Activation::kGelu;
  if (name == "gelu_tanh") return Activation::kGeluTanh;
  return Activation::kNone;
}

}  // namespace kk
