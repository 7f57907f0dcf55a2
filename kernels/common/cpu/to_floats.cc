// Values as floats.
#include "row.h"
#include "rows.h"

namespace kk {

template <class Level, class T>
void ToFloats(const T* x, int64_t count, float* out) {
  ForRow<T>(count, [&](int64_t i, auto extent) { Put(out + i, extent, Get(x + i, extent)); });
}

#define KK_INSTANTIATE(T) template void ToFloats<KP_VARIANT, T>(const T*, int64_t, float*);
KK_INSTANTIATE(float)
KK_INSTANTIATE(Bf16)
KK_INSTANTIATE(F16)

}  // namespace kk
