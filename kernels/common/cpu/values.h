// Stored values as numbers that neither overflow nor vanish in the middle of a formula, and back.
#pragma once

#include <kernpack/half.h>

#include <cstdint>
#include <vector>

#include "types.h"
#include "dual.h"

namespace kk {

// The squares and cubes of every T, subnormals and the largest ones included, are normal numbers of this type.
template <class T>
struct WideOf {
  using Type = double;
};
template <>
struct WideOf<double> {
  using Type = long double;
};
template <class T>
using Wide = typename WideOf<T>::Type;

inline float Load(float x) { return x; }
inline double Load(double x) { return x; }
inline float Load(Bf16 x) { return kernpack::bfloat16::from_bits(x.bits); }
inline float Load(F16 x) { return kernpack::half::from_bits(x.bits); }

inline void Store(double from, float* to) { *to = static_cast<float>(from); }
inline void Store(long double from, double* to) { *to = static_cast<double>(from); }
inline void Store(double from, double* to) { *to = from; }
inline void Store(double from, Bf16* to) { to->bits = kernpack::bfloat16(from).bits(); }
inline void Store(double from, F16* to) { to->bits = kernpack::half(from).bits(); }

inline void Store(double from, kernpack::half* to) { *to = from; }
inline void Store(double from, kernpack::bfloat16* to) { *to = from; }

template <class R, class T>
void LoadRow(const T* from, int64_t count, R* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = Load(from[i]);
}

// Values and their tangents; null stands for zeros.
template <class R, class T>
void LoadRow(const T* values, const T* tangents, int64_t count, Dual<R>* to) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] = {values ? static_cast<R>(Load(values[i])) : R{0}, tangents ? static_cast<R>(Load(tangents[i])) : R{0}};
  }
}

template <class R, class T>
void StoreRow(const R* from, int64_t count, T* to) {
  for (int64_t i = 0; i < count; ++i) Store(from[i], to + i);
}

template <class R, class T>
void StoreTangents(const Dual<R>* from, int64_t count, T* to) {
  for (int64_t i = 0; i < count; ++i) Store(from[i].tangent, to + i);
}

}  // namespace kk
