// Numbers of formulas. <cmath> has them only as an extension, which not every system's headers give to standard C++.
#pragma once

namespace kk {

constexpr double kSqrtHalf = 0.70710678118654752440;  // the nearest double to sqrt(1 / 2)

}  // namespace kk
