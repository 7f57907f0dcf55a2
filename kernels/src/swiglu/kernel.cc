// silu(gate) * up of one row, and its gradient.
#include "swiglu.h"

#include "../rows/activations.h"
#include "../rows/row.h"

namespace kk {

template <class Level, class T>
void Swiglu(const T* gate, const T* up, T* out, int64_t count) {
  ForRow<T>(count,
            [&](int64_t i, auto extent) { Put(out + i, extent, Silu(Get(gate + i, extent)) * Get(up + i, extent)); });
}

template <class Level, class T>
void SwigluBackward(const T* d_out, const T* gate, const T* up, T* d_gate, T* d_up, int64_t count) {
  using S = typename Pack<T>::S;
  ForRow<T>(count, [&](int64_t i, auto extent) {
    const auto d = Get(d_out + i, extent), x = Get(gate + i, extent), u = Get(up + i, extent);
    const SiluSlope slope(x);
    Put(d_gate + i, extent, d * u * slope.derivative);
    Put(d_up + i, extent, d * Max(Splat(-kSiluEnd<S>), x) * slope.sigmoid);
  });
}

#define KK_INSTANTIATE(T)                                               \
  template void Swiglu<KP_VARIANT, T>(const T*, const T*, T*, int64_t); \
  template void SwigluBackward<KP_VARIANT, T>(const T*, const T*, const T*, T*, T*, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
