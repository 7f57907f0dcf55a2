// Products of small integers and of bf16 pairs, a lane each: the instructions that matrix tiles are made of, and what stands in
// for them where the CPU level has none. Stand-ins give the same bits for integers.
#pragma once

#include "pack.h"

namespace kk {
namespace {

typedef int16_t VS __attribute__((vector_size(kBytes)));

constexpr int kLanes = kBytes / 4;

inline VI Splat(int32_t x) { return x - VI{}; }

inline VI LoadInts(const void* p) {
  VI v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline VU LoadBits(const void* p) { return (VU)LoadInts(p); }

// Sums of products of neighbouring 16-bit lanes, as 32-bit lanes.
inline VI PairProducts(VS a, VS b) {
#if defined(__AVX512BW__)
  return (VI)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (VI)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__aarch64__)
  const int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
  return (VI)vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
#else
  return (VI)_mm_madd_epi16((__m128i)a, (__m128i)b);
#endif
}

// Adds to each 32-bit lane the products of four unsigned bytes of `u` with the signed ones of `s`.
inline VI AddByteProducts(VI sum, VU u, VI s) {
#if defined(__AVX512VNNI__)
  return (VI)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)u, (__m512i)s);
#elif defined(__AVXVNNI__) && defined(__AVX2__)
  return (VI)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)u, (__m256i)s);
#elif defined(__ARM_FEATURE_MATMUL_INT8)
  return (VI)vusdotq_s32((int32x4_t)sum, (uint8x16_t)u, (int8x16_t)s);
#elif defined(__ARM_FEATURE_DOTPROD)
  // Of signed bytes: u is (u - 128) + 64 + 64.
  const int8x16_t bytes = (int8x16_t)s, half = vdupq_n_s8(64);
  const int32x4_t rest = vdotq_s32(vdotq_s32((int32x4_t)sum, bytes, half), bytes, half);
  return (VI)vdotq_s32(rest, (int8x16_t)(u ^ 0x80808080), bytes);
#else
  const VS even = (VS)s << 8 >> 8, odd = (VS)s >> 8;
  return sum + PairProducts((VS)(u & 0x00ff00ff), even) + PairProducts((VS)(u >> 8 & 0x00ff00ff), odd);
#endif
}

// True if AddByteProducts is an instruction of this level.
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(__ARM_FEATURE_DOTPROD)
constexpr bool kHasByteProducts = true;
#else
constexpr bool kHasByteProducts = false;
#endif

// Sums of products of neighbouring bytes, those of `u` below 128, as 16-bit lanes: two steps of four bytes' products, for levels
// that have no instruction for those. Several may be added up before the second step, PairProducts with ones, as long as 16 bits
// hold them.
inline VS BytePairProducts(VU u, VI s) {
#if defined(__AVX512BW__)
  return (VS)_mm512_maddubs_epi16((__m512i)u, (__m512i)s);
#elif defined(__AVX2__)
  return (VS)_mm256_maddubs_epi16((__m256i)u, (__m256i)s);
#elif defined(__aarch64__)
  const int8x16_t x = (int8x16_t)u, y = (int8x16_t)s;
  return (VS)vpaddq_s16(vmull_s8(vget_low_s8(x), vget_low_s8(y)), vmull_high_s8(x, y));
#else
  return (VS)_mm_maddubs_epi16((__m128i)u, (__m128i)s);
#endif
}

// The same where every byte of `u` is below 128, which takes one instruction where there is one for signed bytes alone.
inline VI AddSmallByteProducts(VI sum, VU u, VI s) {
#if defined(__ARM_FEATURE_DOTPROD)
  return (VI)vdotq_s32((int32x4_t)sum, (int8x16_t)u, (int8x16_t)s);
#else
  return AddByteProducts(sum, u, s);
#endif
}
// True if the level has an instruction for small bytes and none for all bytes.
#if defined(__ARM_FEATURE_DOTPROD) && !defined(__ARM_FEATURE_MATMUL_INT8)
constexpr bool kHasSmallByteProductsOnly = true;
#else
constexpr bool kHasSmallByteProductsOnly = false;
#endif

// True if AddPairProducts is an instruction of this level, so that rounding to bf16 is worth it.
#if defined(__AVX512BF16__) || defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
constexpr bool kHasBf16Products = true;
#else
constexpr bool kHasBf16Products = false;
#endif

// Two vectors as bf16, nearest even, in the low and high half of each 32-bit lane.
inline VU Bf16Pairs(VF low, VF high) {
#if defined(__AVX512BF16__)
  const __m512i halves = (__m512i)_mm512_cvtne2ps_pbh((__m512)high, (__m512)low);
  typedef uint16_t Halves __attribute__((vector_size(64)));
  return (VU)__builtin_shufflevector((Halves)halves, (Halves)halves, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7,
                                     23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#else
  const auto rounded = [](VF v) {
    const VU bits = (VU)v;
    return v == v ? bits + 0x7fff + (bits >> 16 & 1) : VU{} + 0x7fc00000;
  };
  return rounded(low) >> 16 | (rounded(high) & 0xffff0000);
#endif
}

// Stores two vectors as Pack<Bf16>::Store does, but for values below 2^-126, which may become zeros.
inline void StoreBf16(Bf16* p, VF first, VF second) {
#if defined(__AVX512BF16__)
  const __m512bh halves = _mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
  std::memcpy(p, &halves, sizeof halves);
#else
  Pack<Bf16>::Store(p, first);
  Pack<Bf16>::Store(p + kLanes, second);
#endif
}

// Adds to each lane the products of the two bf16 values in it. The instruction rounds differently from two multiply-adds and
// takes denormals for zeros.
inline VF AddPairProducts(VF sum, VU a, VU b) {
#if defined(__AVX512BF16__)
  return (VF)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
#elif defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
  return (VF)vbfdotq_f32((float32x4_t)sum, (bfloat16x8_t)a, (bfloat16x8_t)b);
#else
  sum += (VF)(a << 16) * (VF)(b << 16);
  return sum + (VF)(a & 0xffff0000) * (VF)(b & 0xffff0000);
#endif
}

inline VF ToFloat(VI v) { return __builtin_convertvector(v, VF); }

// kLanes bytes, signed or not, a lane each. GCC 12 converts such vectors one number at a time, hence the intrinsics.
inline VI LoadBytes(const int8_t* p) {
#if defined(__AVX512F__)
  return (VI)_mm512_maskz_cvtepi8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
#elif defined(__AVX2__)
  return (VI)_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
#else
  int32_t word;
  std::memcpy(&word, p, sizeof word);
#if defined(__aarch64__)
  return (VI)vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(word)))));
#else
  return (VI)_mm_cvtepi8_epi32(_mm_cvtsi32_si128(word));
#endif
#endif
}
inline VI LoadBytes(const uint8_t* p) { return LoadBytes(reinterpret_cast<const int8_t*>(p)) & 255; }

inline void Prefetch(const void* p) { __builtin_prefetch(p); }

}  // namespace
}  // namespace kk
