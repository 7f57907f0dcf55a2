// The targets of cross entropies.
#pragma once

#include <cassert>

namespace kk_cuda {

// The target of a row, -1 where it doesn't count. The host doesn't know the targets, and waiting for them would stop the stream.
template <class Params>
__device__ inline long long TargetOf(const Params& p, const void* targets, long long row) {
  const long long target = p.wide ? static_cast<const long long*>(targets)[row] : static_cast<const int*>(targets)[row];
  const bool cross_entropy_target_is_a_class = target == p.ignored || (target >= 0 && target < p.classes);
  assert(cross_entropy_target_is_a_class);
  return target == p.ignored || !cross_entropy_target_is_a_class ? -1 : target;
}

}  // namespace kk_cuda
