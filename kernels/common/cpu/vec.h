// Vectors of the widest registers a CPU level has, through GCC's vector extensions.
//
// Every file of this folder is compiled once per level. All helpers have internal linkage: were they inline, the linker
// would keep one copy for all levels, and a v2 machine could meet v4 instructions. On aarch64 there is one level, with NEON.
#pragma once

#if defined(__aarch64__)
#include <arm_neon.h>
#else
#include <immintrin.h>
#endif

#include <cstdint>
#include <cstring>
#include <utility>

namespace kk {
namespace {

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
constexpr int kBytes = 64;
#elif defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif

typedef float VF __attribute__((vector_size(kBytes)));
typedef int32_t VI __attribute__((vector_size(kBytes)));
typedef uint32_t VU __attribute__((vector_size(kBytes)));
typedef uint16_t VH __attribute__((vector_size(kBytes / 2)));
typedef double VD __attribute__((vector_size(kBytes)));
typedef int64_t VL __attribute__((vector_size(kBytes)));

inline VF Splat(float x) { return x - VF{}; }
inline VD Splat(double x) { return x - VD{}; }

// Integers of 16 bits to 32 and back. GCC 12 splits __builtin_convertvector into halves, hence the intrinsics.
#if defined(__AVX512F__)
inline VU Widen(VH v) { return (VU)_mm512_maskz_cvtepu16_epi32(0xffff, (__m256i)v); }
inline VH Narrow(VU v) { return (VH)_mm512_maskz_cvtepi32_epi16(0xffff, (__m512i)v); }
#elif defined(__AVX2__)
inline VU Widen(VH v) { return (VU)_mm256_cvtepu16_epi32((__m128i)v); }
inline VH Narrow(VU v) { return __builtin_convertvector(v, VH); }
#else
inline VU Widen(VH v) { return __builtin_convertvector(v, VU); }
inline VH Narrow(VU v) { return __builtin_convertvector(v, VH); }
#endif

inline VF Abs(VF x) { return (VF)((VI)x & 0x7fffffff); }
inline VD Abs(VD x) { return (VD)((VL)x & INT64_MAX); }

// The smaller and the larger value; y where either is NaN: what the machine's instructions do, which GCC 12 does not find.
template <class V>
inline V Min(V x, V y) {
  return x < y ? x : y;
}
template <class V>
inline V Max(V x, V y) {
  return x > y ? x : y;
}
#if defined(__AVX512F__)
inline VF Min(VF x, VF y) { return (VF)_mm512_maskz_min_ps(0xffff, (__m512)x, (__m512)y); }
inline VF Max(VF x, VF y) { return (VF)_mm512_maskz_max_ps(0xffff, (__m512)x, (__m512)y); }
#elif defined(__AVX2__)
inline VF Min(VF x, VF y) { return (VF)_mm256_min_ps((__m256)x, (__m256)y); }
inline VF Max(VF x, VF y) { return (VF)_mm256_max_ps((__m256)x, (__m256)y); }
#elif defined(__SSE__)
inline VF Min(VF x, VF y) { return (VF)_mm_min_ps((__m128)x, (__m128)y); }
inline VF Max(VF x, VF y) { return (VF)_mm_max_ps((__m128)x, (__m128)y); }
#endif

// GCC 12 has no vector operation for it.
inline VF Sqrt(VF x) {
#if defined(__AVX512F__)
  return (VF)_mm512_maskz_sqrt_ps(0xffff, (__m512)x);
#elif defined(__AVX2__)
  return (VF)_mm256_sqrt_ps((__m256)x);
#elif defined(__aarch64__)
  return (VF)vsqrtq_f32((float32x4_t)x);
#else
  return (VF)_mm_sqrt_ps((__m128)x);
#endif
}

// The lower and upper half of a vector of 2n lanes.
template <class V, size_t... I>
inline auto Lower(V v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, I...);
}
template <class V, size_t... I>
inline auto Upper(V v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, (sizeof...(I) + I)...);
}

// True if any lane of a comparison is true.
inline bool Any(VI mask) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_ps((__m256)mask) != 0;
#elif defined(__aarch64__)
  return vmaxvq_u32((uint32x4_t)mask) != 0;
#else
  return _mm_movemask_ps((__m128)mask) != 0;
#endif
}

// Lanes combined in a tree.
template <class V, class Combine>
inline auto Fold(V v, Combine combine) {
  constexpr size_t n = sizeof(V) / sizeof(v[0]);
  if constexpr (n == 2) {
    return combine(v[0], v[1]);
  } else {
    const auto half = std::make_index_sequence<n / 2>();
    return Fold(combine(Lower(v, half), Upper(v, half)), combine);
  }
}

template <class V>
inline auto HorizontalSum(V v) {
  return Fold(v, [](auto x, auto y) { return x + y; });
}
template <class V>
inline auto HorizontalMax(V v) {
  return Fold(v, [](auto x, auto y) { return x > y ? x : y; });
}

}  // namespace
}  // namespace kk
