// What the options of cross-entropy may be, on every device.
#pragma once

#include <kernpack/kernel.h>

namespace kk {

inline void CheckCrossEntropyOptions(double label_smoothing, double z_loss) {
  KP_CHECK(label_smoothing >= 0 && label_smoothing <= 1, ValueError)
      << "label_smoothing: expected a number from 0 to 1, got " << label_smoothing;
  KP_CHECK(z_loss >= 0, ValueError) << "z_loss: expected a positive number, or 0 for none, got " << z_loss;
}

}  // namespace kk
