// Random numbers that a kernel draws by position instead of in turn: element i gets the same number on any number of threads, on the
// CPU and on CUDA devices. The caller's generator gives the key (docs/patterns.md).
#ifndef KERNPACK_RANDOM_H_
#define KERNPACK_RANDOM_H_

#include <kernpack/on_devices.h>

#include <math.h>
#include <stdint.h>

KP_NAMESPACE_BEGIN

// Random numbers by position. The algorithm is Philox4x32-10 of Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1,
// 2, 3 (SC 2011). It passes BigCrush. Don't use it for secrets.
//
//   const kp::Philox random{{seed, 0}};
//   for (int64_t i = 0; i < out.size(); ++i) out[i] = random(i).uniform(0);  // the same on any number of threads
struct Philox {
  // Four numbers of 32 random bits.
  struct Block {
    uint32_t at[4];

    // Number i, 0 to 3, as a float in [0, 1) with 24 random bits, or in (-inf, inf) normally distributed: 0 with 1, 2 with 3 by
    // Box and Muller.
    KP_HOST_DEVICE_ float uniform(int i) const { return static_cast<float>(at[i] >> 8) * 0x1p-24f; }
    KP_HOST_DEVICE_ float normal(int i) const {
      const int pair = i & ~1;
      const float radius = sqrtf(-2.0f * logf(static_cast<float>((at[pair] >> 8) + 1) * 0x1p-24f));
      const float angle = 6.283185307179586f * uniform(pair + 1);
      return radius * (i & 1 ? sinf(angle) : cosf(angle));
    }
  };

  uint32_t key[2];

  // The numbers at a place of the stream that the key names. `stream` tells several numbers for one place apart.
  KP_HOST_DEVICE_ Block operator()(uint64_t place, uint64_t stream = 0) const {
    Block x{{static_cast<uint32_t>(place), static_cast<uint32_t>(place >> 32), static_cast<uint32_t>(stream),
             static_cast<uint32_t>(stream >> 32)}};
    uint32_t a = key[0], b = key[1];
    for (int round = 0; round < 10; ++round, a += 0x9e3779b9u, b += 0xbb67ae85u) {
      const uint64_t p = uint64_t{0xd2511f53u} * x.at[0], q = uint64_t{0xcd9e8d57u} * x.at[2];
      x = Block{{static_cast<uint32_t>(q >> 32) ^ x.at[1] ^ a, static_cast<uint32_t>(q),
                 static_cast<uint32_t>(p >> 32) ^ x.at[3] ^ b, static_cast<uint32_t>(p)}};
    }
    return x;
  }
};

KP_NAMESPACE_END

#endif  // KERNPACK_RANDOM_H_
