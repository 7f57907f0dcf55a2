// Philox4x32-10 (Salmon et al., SC 2011): random numbers from a key and a counter, the same in any order and on every device.
#pragma once

#include <cstdint>

#include "common/everywhere.h"

namespace kk {

struct RandomBits {
  uint32_t at[4];
};

KK_EVERYWHERE inline RandomBits Philox(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  RandomBits c = {{static_cast<uint32_t>(counter_low), static_cast<uint32_t>(counter_low >> 32),
                   static_cast<uint32_t>(counter_high), static_cast<uint32_t>(counter_high >> 32)}};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c.at[0], b = uint64_t{0xCD9E8D57} * c.at[2];
    c = {{static_cast<uint32_t>(b >> 32) ^ c.at[1] ^ k0, static_cast<uint32_t>(b),
          static_cast<uint32_t>(a >> 32) ^ c.at[3] ^ k1, static_cast<uint32_t>(a)}};
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  return c;
}

// In [0, 1), 53 bits.
KK_EVERYWHERE inline double ToUniform(const RandomBits& c) {
  const uint64_t bits = uint64_t{c.at[1]} << 32 | c.at[0];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace kk
