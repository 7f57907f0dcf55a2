// Looking through a row of logits.
#include "sampling.h"

#include <algorithm>
#include <cmath>

#include "common/cpu/math.h"
#include "common/cpu/row.h"

namespace kk {

template <class Level, class T>
void BlockMaxima(const T* x, int64_t count, float* maxima) {
  for (int64_t begin = 0; begin < count; begin += kLogitBlock) {
    const T* block = x + begin;
    *maxima++ = RowMax<T>(std::min(kLogitBlock, count - begin), [&](int64_t i, auto extent) {
      const VF v = Get(block + i, extent, -INFINITY);
      return v == v ? v : Splat(INFINITY);
    });
  }
}

template <class Level, class T>
int64_t AtLeast(const T* x, int64_t count, float least, int32_t* places, float* values) {
  int64_t found = 0;
  ForRow<T>(count, [&](int64_t i, auto extent) {
    const VF v = Get(x + i, extent, -INFINITY);
    if (!Any(~(v < least))) return;
    for (int lane = 0; lane < Pack<T>::kLanes && i + lane < count; ++lane) {
      if (!(v[lane] < least)) places[found] = static_cast<int32_t>(i + lane), values[found++] = v[lane];
    }
  });
  return found;
}

template <class Level, class T>
double SumOfExp(const T* x, int64_t count, float largest, float scale) {
  return RowSum<T>(count, [&](int64_t i, auto extent) {
    return Exp(Min(Splat(0.0f), (Get(x + i, extent, -INFINITY) - largest) * scale));
  });
}

#define KK_INSTANTIATE(T)                                                              \
  template void BlockMaxima<KP_VARIANT, T>(const T*, int64_t, float*);                 \
  template int64_t AtLeast<KP_VARIANT, T>(const T*, int64_t, float, int32_t*, float*); \
  template double SumOfExp<KP_VARIANT, T>(const T*, int64_t, float, float);
KK_INSTANTIATE(float)
KK_INSTANTIATE(Bf16)
KK_INSTANTIATE(F16)

}  // namespace kk
