// What lists and options of the optimizers may be, on every device.
#pragma once

#include <kernpack/kernel.h>

namespace kk {

namespace kp = kernpack;

using Tensors = kp::ListView<kp::TensorView>;
using MutTensors = kp::ListView<kp::MutTensorView>;

template <class List>
void CheckSizes(const MutTensors& params, const char* name, const List& list) {
  KP_CHECK(list.size() == params.size(), ValueError)
      << name << ": expected as many tensors as params has, " << params.size() << ", got " << list.size();
  for (size_t i = 0; i < params.size(); ++i) {
    KP_CHECK(list[i].numel() == params[i].numel(), ValueError)
        << name << ": item " << i << ": expected " << params[i].numel() << " numbers, as item " << i
        << " of params has, got " << list[i].numel();
  }
}

inline void CheckFraction(const char* name, double value) {
  KP_CHECK(value >= 0 && value < 1, ValueError) << name << ": expected a number from 0 to below 1, got " << value;
}

inline void CheckMaxNorm(double max_norm) {
  KP_CHECK(max_norm >= 0, ValueError) << "max_norm: expected a number of at least 0, got " << max_norm;
}

}  // namespace kk
