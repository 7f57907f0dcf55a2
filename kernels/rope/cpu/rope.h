// Rotary position embedding of the heads of one position: plain pointers, compiled once per CPU level.
#pragma once

#include "common/cpu/types.h"

namespace kk {

// Of `width` elements the first 2 * pairs are rotated, the others copied. Pairs are elements i and pairs + i, or, where
// interleaved, 2 i and 2 i + 1. sign is -1 for the inverse. out may be x.
struct RopeRow {
  const float *cos, *sin;  // [pairs]
  int64_t pairs, width;
  bool interleaved;
  float sign;
};

// `heads` rows, which lie x_stride and out_stride elements apart.
template <class Level, class T>
void Rope(const RopeRow& row, int64_t heads, const T* x, int64_t x_stride, T* out, int64_t out_stride);

}  // namespace kk
