// activation(gate) * up of one row, and its gradient: one loop for all activations, each of which is a policy.
#include "gated.h"

#include "activations.h"
#include "common/cpu/row.h"

namespace kk {
namespace {

// f(policy).
template <class F>
void Dispatch(Gate kind, F f) {
  switch (kind) {
    case Gate::kGelu:
      return f(OfGelu{});
    case Gate::kGeluTanh:
      return f(OfGeluTanh{});
#define KK_CASE(op, Name, text) \
  case Gate::k##Name:           \
    return f(Of##Name{});
      KK_ROW_ACTIVATIONS(KK_CASE)
#undef KK_CASE
  }
}

}  // namespace

template <class Level, class T>
void Gated(Gate kind, const T* gate, const T* up, T* out, int64_t count) {
  Dispatch(kind, [&](auto policy) {
    if (up) {
      ForRow<T>(count, [&](int64_t i, auto extent) {
        Put(out + i, extent, policy.template At<T>(Get(gate + i, extent)) * Get(up + i, extent));
      });
    } else {
      ForRow<T>(count,
                [&](int64_t i, auto extent) { Put(out + i, extent, policy.template At<T>(Get(gate + i, extent))); });
    }
  });
}

template <class Level, class T>
void GatedBackward(Gate kind, const T* d_out, const T* gate, const T* up, T* d_gate, T* d_up, int64_t count) {
  Dispatch(kind, [&](auto policy) {
    if (up) {
      ForRow<T>(count, [&](int64_t i, auto extent) {
        const auto d = Get(d_out + i, extent), x = Get(gate + i, extent), u = Get(up + i, extent);
        const auto at = policy.template WithSlope<T>(x);
        Put(d_gate + i, extent, d * u * at.slope);
        Put(d_up + i, extent, d * at.value);
      });
    } else {
      ForRow<T>(count, [&](int64_t i, auto extent) {
        Put(d_gate + i, extent, Get(d_out + i, extent) * policy.template WithSlope<T>(Get(gate + i, extent)).slope);
      });
    }
  });
}

#define KK_INSTANTIATE(T)                                                    \
  template void Gated<KP_VARIANT, T>(Gate, const T*, const T*, T*, int64_t); \
  template void GatedBackward<KP_VARIANT, T>(Gate, const T*, const T*, const T*, T*, T*, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
