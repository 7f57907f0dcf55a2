// GELU, exact and in its tanh form.
#include "activations.h"
#include "common/cpu/row.h"
#include "common/cpu/rows.h"

namespace kk {

template <class Level, class T>
void Gelu(GeluKind kind, const T* x, T* out, int64_t count) {
  if (kind == GeluKind::kErf) {
    ForRow<T>(count, [&](int64_t i, auto extent) { Put(out + i, extent, ErfForm<T>(Get(x + i, extent))); });
  } else {
    ForRow<T>(count, [&](int64_t i, auto extent) { Put(out + i, extent, TanhForm(Get(x + i, extent))); });
  }
}

template <class Level, class T>
void GeluBackward(GeluKind kind, const T* d_out, const T* x, T* d_x, int64_t count) {
  if (kind == GeluKind::kErf) {
    ForRow<T>(count, [&](int64_t i, auto extent) {
      Put(d_x + i, extent, Get(d_out + i, extent) * ErfDerivative<T>(Get(x + i, extent)));
    });
  } else {
    ForRow<T>(count, [&](int64_t i, auto extent) {
      Put(d_x + i, extent, Get(d_out + i, extent) * TanhDerivative<T>(Get(x + i, extent)));
    });
  }
}

#define KK_INSTANTIATE(T)                                             \
  template void Gelu<KP_VARIANT, T>(GeluKind, const T*, T*, int64_t); \
  template void GeluBackward<KP_VARIANT, T>(GeluKind, const T*, const T*, T*, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
