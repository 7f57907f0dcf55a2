// One value of a packed weight: what it is, and what it is scaled by.
#pragma once

#ifdef __CUDACC__
#include <cuda_fp16.h>
#else
#include <kernpack/kernel.h>
#endif

#include "packed.h"

namespace kk {

KK_EVERYWHERE inline float FromHalf(const uint8_t* p) {
#ifdef __CUDACC__
  return __half2float(*reinterpret_cast<const __half*>(p));
#else
  kp::half value;
  std::memcpy(&value, p, sizeof value);
  return static_cast<float>(value);
#endif
}

KK_EVERYWHERE inline float FromFloat(const uint8_t* p) {
  float value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// The value of column k in lane `lane` of a block.
template <int kBits>
KK_EVERYWHERE int BlockValue(const uint8_t* block, int64_t lane, int64_t k) {
  const auto byte = [&](int64_t at) { return static_cast<int>(block[4 * (at / 4 * kGroupRows + lane) + at % 4]); };
  if constexpr (kBits == 8) return byte(k);
  const int low = k < 16 ? byte(k) & 15 : byte(k - 16) >> 4;
  if constexpr (kBits == 4) return low;
  return low | (byte(16 + k / 16 * 4 + k % 4) >> (2 * (k % 16 / 4)) & 3) << 4;
}

// The scale and minimum of column k. At: a BlockCursor, or what has a block and its tail elsewhere.
struct ScaleAndMinimum {
  float d, m;
};

template <PackedFormat F, class At>
KK_EVERYWHERE ScaleAndMinimum UnpackScale(const At& at, int64_t lane, int64_t k) {
  using T = PackedTraits<F>;
  const uint8_t *scales = at.block() + T::kValueBytes, *tail = at.tail();
  if constexpr (T::kScales == Scales::kHalf) {
    const float d = FromHalf(scales + 2 * lane);
    return {d, d * -T::kOffset};
  } else if constexpr (T::kScales == Scales::kHalfMin) {
    return {FromHalf(scales + 2 * lane), FromHalf(scales + 2 * (kGroupRows + lane))};
  } else if constexpr (T::kScales == Scales::kQ4K) {
    return {FromHalf(tail + 2 * lane) * static_cast<float>(scales[lane]),
            -(FromHalf(tail + 2 * (kGroupRows + lane)) * static_cast<float>(scales[kGroupRows + lane]))};
  } else if constexpr (T::kScales == Scales::kQ6K) {
    const auto scale = static_cast<int8_t>(scales[k / 16 * kGroupRows + lane]);
    const float d = FromHalf(tail + 2 * lane) * static_cast<float>(scale);
    return {d, d * -T::kOffset};
  } else {
    return {FromFloat(tail + 4 * lane), FromFloat(tail + 4 * (kGroupRows + lane))};
  }
}

}  // namespace kk
