// Integers of packed weights as numbers that tensor cores multiply, which they are exactly.
#pragma once

#include "common/cuda/mma.cuh"

namespace kk_cuda {

template <class Pair>
__device__ inline Pair FromBits(uint32_t bits) {
  return *reinterpret_cast<const Pair*>(&bits);
}

// Bytes `first` and `first` + 1 of four integers, less kOffset, as two numbers. An integer that is or-ed into the last bits of a power of
// two is added to it, which is 1024 for f16.
template <int kBits, int kOffset>
__device__ inline uint32_t TwoNumbers(uint32_t integers, int first, __half) {
  const uint32_t pair = __byte_perm(integers, 0x64646464, 0x4040 | first | (first + 1) << 8);
  return GetBits(__hsub2(FromBits<__half2>(pair), FromBits<__half2>((0x6400 + kOffset) * 0x10001u)));
}
// 128 for bf16, which has room for 7 bits; more go by way of f32, whose first half a bf16 is.
template <int kBits, int kOffset>
__device__ inline uint32_t TwoNumbers(uint32_t integers, int first, __nv_bfloat16) {
  if constexpr (kBits < 8) {
    const uint32_t pair = __byte_perm(integers, 0, 0x4040 | first | (first + 1) << 8) | 0x43004300;
    return GetBits(__hfma2(FromBits<__nv_bfloat162>(pair), FromBits<__nv_bfloat162>(0x3f803f80),
                           FromBits<__nv_bfloat162>((0xc300 + kOffset) * 0x10001u)));
  }
  const auto number = [integers](int byte) {
    const uint32_t large = __byte_perm(integers, 0x4b000000, 0x7440 | byte);  // 2^23 is added
    return __float_as_uint(__uint_as_float(large) - static_cast<float>(8388608 + kOffset));
  };
  return __byte_perm(number(first), number(first + 1), 0x7632);
}

}  // namespace kk_cuda
