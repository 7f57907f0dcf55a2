// Values of a cache as floats.
#pragma once

#include "common/cpu/row.h"
#include "common/cpu/lanes.h"

namespace kk {
namespace {

template <class C>
inline VF LoadCached(const C* p) {
  return Pack<C>::Load(p);
}
inline VF LoadCached(const int8_t* p) { return ToFloat(LoadBytes(p)); }

// The lanes of a row from `d` on; zeros beyond its width.
template <class C>
inline VF LoadCached(const C* row, int64_t d, int64_t width) {
  if (d + kLanes <= width) return LoadCached(row + d);
  C padded[kLanes] = {};
  for (int64_t i = 0; d + i < width; ++i) padded[i] = row[d + i];
  return LoadCached(padded);
}

}  // namespace
}  // namespace kk
