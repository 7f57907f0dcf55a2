// Looking through a row of logits: plain pointers, compiled once per CPU level.
#pragma once

#include "common/cpu/types.h"

namespace kk {

constexpr int64_t kLogitBlock = 256;

// The largest value of each block of a row; +inf where a block holds a NaN.
template <class Level, class T>
void BlockMaxima(const T* x, int64_t count, float* maxima);

// Of `count` values, at most kLogitBlock, those that are at least `least`, or NaN: writes them and where they are. Returns how many.
template <class Level, class T>
int64_t AtLeast(const T* x, int64_t count, float least, int32_t* places, float* values);

// The sum of exp((x - largest) * scale) over a row.
template <class Level, class T>
double SumOfExp(const T* x, int64_t count, float largest, float scale);

}  // namespace kk
