// Code that products share: the dtypes of activations.
#pragma once

#include "common/cpu/ops.h"
#include "linear/activation_name.h"
#include "linear.h"

namespace kk {

// f(Tag<T>) with the type that activations of `dtype` are stored as.
template <class F>
void DispatchLinear(kp::DType dtype, F f) {
  kp::dispatch<float, kp::half, kp::bfloat16>(
      dtype, [&](auto t) { f(Tag<typename Storage<typename decltype(t)::type>::Type>()); });
}

}  // namespace kk
