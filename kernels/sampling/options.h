// What the options of sampling may be, on every device.
#pragma once

#include <kernpack/kernel.h>

#include <cmath>

namespace kk {

inline void CheckSampleOptions(double temperature, double top_p, double min_p) {
  KP_CHECK(temperature >= 0 && std::isfinite(temperature), ValueError)
      << "temperature: expected a number that isn't negative, got " << temperature;
  KP_CHECK(top_p > 0 && top_p <= 1, ValueError) << "top_p: expected 0 < top_p <= 1, got " << top_p;
  KP_CHECK(min_p >= 0 && min_p <= 1, ValueError) << "min_p: expected 0 <= min_p <= 1, got " << min_p;
}

inline void CheckPenalty(double penalty) {
  KP_CHECK(penalty > 0 && std::isfinite(penalty), ValueError)
      << "penalty: expected a positive number, or 1 for none, got " << penalty;
}

}  // namespace kk
