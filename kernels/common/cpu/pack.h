// How values of a storage type are loaded into, and stored from, vectors of the type they are computed in.
#pragma once

#include "types.h"
#include "vec.h"

namespace kk {
namespace {

struct InFloat {
  using S = float;
  using V = VF;
  static constexpr int kLanes = kBytes / 4;
  static VI LaneIndex() {
    VI index;
    for (int i = 0; i < kLanes; ++i) index[i] = i;
    return index;
  }
};

struct InDouble {
  using S = double;
  using V = VD;
  static constexpr int kLanes = kBytes / 8;
  static VL LaneIndex() {
    VL index;
    for (int i = 0; i < kLanes; ++i) index[i] = i;
    return index;
  }
};

template <class T>
struct Pack;

template <>
struct Pack<float> : InFloat {
  static VF Load(const float* p) {
    VF v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static void Store(float* p, VF v) { std::memcpy(p, &v, sizeof v); }
};

template <>
struct Pack<double> : InDouble {
  static VD Load(const double* p) {
    VD v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  static void Store(double* p, VD v) { std::memcpy(p, &v, sizeof v); }
};

template <>
struct Pack<Bf16> : InFloat {
  static VF Load(const Bf16* p) {
    VH bits;
    std::memcpy(&bits, p, sizeof bits);
    return (VF)(Widen(bits) << 16);
  }
  static void Store(Bf16* p, VF v) {  // to nearest, ties to even; a NaN stays one
    const VU bits = (VU)v;
    const VU rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const VH out = Narrow(v == v ? rounded : VU{} + 0x7fc0);
    std::memcpy(p, &out, sizeof out);
  }
};

template <>
struct Pack<F16> : InFloat {
#if defined(__AVX512F__)
  static VF Load(const F16* p) {
    __m256i bits;
    std::memcpy(&bits, p, sizeof bits);
    return (VF)_mm512_maskz_cvtph_ps(0xffff, bits);
  }
  static void Store(F16* p, VF v) {
    const __m256i bits = _mm512_maskz_cvtps_ph(0xffff, (__m512)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    std::memcpy(p, &bits, sizeof bits);
  }
#elif defined(__aarch64__)
  static VF Load(const F16* p) {
    uint16x4_t bits;
    std::memcpy(&bits, p, sizeof bits);
    return (VF)vcvt_f32_f16(vreinterpret_f16_u16(bits));
  }
  static void Store(F16* p, VF v) {
    const float16x4_t bits = vcvt_f16_f32((float32x4_t)v);
    std::memcpy(p, &bits, sizeof bits);
  }
#elif defined(__F16C__)
  static VF Load(const F16* p) {
    __m128i bits;
    std::memcpy(&bits, p, sizeof bits);
    return (VF)_mm256_cvtph_ps(bits);
  }
  static void Store(F16* p, VF v) {
    const __m128i bits = _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    std::memcpy(p, &bits, sizeof bits);
  }
#else
  static VF Load(const F16* p) {
    VH half;
    std::memcpy(&half, p, sizeof half);
    const VU bits = Widen(half);
    const VU magnitude = bits & 0x7fff;
    const VF subnormal = (VF)(magnitude | 0x3f000000) - 0.5f;  // right where subnormal floats are taken for zero, too
    VU value = magnitude < 0x0400 ? (VU)subnormal : (magnitude << 13) + 0x38000000;
    value = magnitude >= 0x7c00 ? magnitude << 13 | 0x7f800000 : value;
    return (VF)(value | (bits & 0x8000) << 16);
  }
  static void Store(F16* p, VF v) {
    const VU bits = (VU)v;
    const VU magnitude = bits & 0x7fffffff;
    const VU normal = (magnitude + 0xc8000fff + ((magnitude >> 13) & 1)) >> 13;
    const VU subnormal = (VU)((VF)magnitude + 0.5f) - 0x3f000000;  // the adder rounds to a multiple of 2^-24
    const VU infinity = VU{} + 0x7c00;
    const VU nan = VU{} + 0x7e00;
    VU out = magnitude < 0x38800000 ? subnormal : normal;
    out = magnitude >= 0x47800000 ? infinity : out;
    out = v == v ? out : nan;
    const VH half = Narrow(out | (bits >> 16 & 0x8000));
    std::memcpy(p, &half, sizeof half);
  }
#endif
};

// How much of a vector a step touches: all lanes, or the first `count` of them at the end of a row.
struct Whole {};
struct Part {
  int count;
};

template <class T>
inline typename Pack<T>::V Get(const T* p, Whole, typename Pack<T>::S = 0) {
  return Pack<T>::Load(p);
}

// Lanes past the end hold `fill`.
template <class T>
inline typename Pack<T>::V Get(const T* p, Part part, typename Pack<T>::S fill = 0) {
  T padded[Pack<T>::kLanes] = {};
  for (int i = 0; i < part.count; ++i) padded[i] = p[i];
  return Pack<T>::LaneIndex() < part.count ? Pack<T>::Load(padded) : Splat(fill);
}

template <class T>
inline void Put(T* p, Whole, typename Pack<T>::V v) {
  Pack<T>::Store(p, v);
}

template <class T>
inline void Put(T* p, Part part, typename Pack<T>::V v) {
  T padded[Pack<T>::kLanes];
  Pack<T>::Store(padded, v);
  for (int i = 0; i < part.count; ++i) p[i] = padded[i];
}

}  // namespace
}  // namespace kk
