// Rows in segments, as offsets tell them.
#pragma once

#include <string>
#include <vector>

#include "ops.h"

namespace kk {

// Where each segment begins, and behind the last where it ends. ValueError, which calls what is in a segment `one`, and all of them
// `all`.
inline std::vector<int64_t> Bounds(kp::TensorView offsets, int64_t rows, const char* one = "row of x",
                                   const char* all = "rows of x") {
  std::vector<int64_t> bounds;
  kp::dispatch<int32_t, int64_t>(offsets.dtype(), [&](auto t) {
    const auto* given = Data<typename decltype(t)::type>(offsets);
    bounds.assign(given, given + offsets.numel());
  });
  bounds.push_back(rows);
  KP_CHECK(bounds.front() == 0, ValueError)
      << "offsets: expected the first one to be 0, so that every " << one << " is in a segment, got " << bounds.front();
  for (size_t i = 1; i < bounds.size(); ++i) {
    const bool last = i + 1 == bounds.size();
    KP_CHECK(bounds[i - 1] <= bounds[i], ValueError)
        << "offsets: element " << i - 1 << " is " << bounds[i - 1] << ", above "
        << (last ? std::string("the number of ") + all : std::string("the next one")) << ", " << bounds[i]
        << ": expected ascending numbers up to " << rows;
  }
  return bounds;
}

}  // namespace kk
