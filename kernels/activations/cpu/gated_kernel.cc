// activation(gate) * up of one row, and its gradient: one loop for all activations, each of which is a policy.
#include "gated.h"

#include "activations.h"
#include "common/cpu/row.h"

namespace kk {
namespace {

// An activation and its derivative. T: the storage type that the result is good for.
template <class V>
struct Both {
  V value, slope;
};

struct OfSilu {
  template <class T, class V>
  static V At(V x) {
    return Silu(x);
  }
  template <class T, class V>
  static Both<V> WithSlope(V x) {
    using S = decltype(x[0] + 0);
    const SiluSlope slope(x);
    return {Max(Splat(-kSiluEnd<S>), x) * slope.sigmoid, slope.derivative};
  }
};

struct OfGelu {
  template <class T, class V>
  static V At(V x) {
    return ErfForm<T>(x);
  }
  template <class T, class V>
  static Both<V> WithSlope(V x) {
    return {ErfForm<T>(x), ErfDerivative<T>(x)};
  }
};

struct OfGeluTanh {
  template <class T, class V>
  static V At(V x) {
    return TanhForm(x);
  }
  template <class T, class V>
  static Both<V> WithSlope(V x) {
    return {TanhForm(x), TanhDerivative<T>(x)};
  }
};

struct OfReluSquared {
  template <class T, class V>
  static V At(V x) {
    const V positive = Max(V{}, x);
    return positive * positive;
  }
  template <class T, class V>
  static Both<V> WithSlope(V x) {
    return {At<T>(x), Max(V{}, x) * 2};
  }
};

// f(policy).
template <class F>
void Dispatch(Gate kind, F f) {
  switch (kind) {
    case Gate::kSilu:
      return f(OfSilu{});
    case Gate::kGelu:
      return f(OfGelu{});
    case Gate::kGeluTanh:
      return f(OfGeluTanh{});
    case Gate::kReluSquared:
      return f(OfReluSquared{});
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
