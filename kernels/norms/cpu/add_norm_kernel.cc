// Sums of rows.
#include "add_norm.h"

#include "common/cpu/row.h"

namespace kk {

template <class Level, class T>
void AddElements(const T* a, const T* b, T* out, int64_t count) {
  ForRow<T>(count, [&](int64_t i, auto extent) { Put(out + i, extent, Get(a + i, extent) + Get(b + i, extent)); });
}

#define KK_INSTANTIATE(T) template void AddElements<KP_VARIANT, T>(const T*, const T*, T*, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
