// A tile of a matrix product, D = A * B + C. Its elements are in doubles, which hold all that the tensor cores take. The sums are compiled
// for each instruction set, as the tables are.
#ifndef KERNPACK_SDK_EMULATOR_OPS_TILE_H_
#define KERNPACK_SDK_EMULATOR_OPS_TILE_H_

#include <cstdint>

namespace kernpack::emulator {

enum class Element : uint8_t {
  kHalf,
  kBrain,
  kTf32,
  kDouble,
  kSigned8,
  kUnsigned8,
  kE4m3,
  kE5m2,
  kFloat,
  kInteger,
  // Of bytes whose other bits don't count: the lower 6, and the 4 in the middle (PTX ISA 9.0, 9.7.14.5.8).
  kE3m2,
  kE2m3,
  kE2m1,
  kE2m1Packed,  // two in a byte
};

// Elements of it in a register.
constexpr uint32_t PerRegister(Element element) {
  if (element == Element::kHalf || element == Element::kBrain) return 2;
  if (element == Element::kE2m1Packed) return 8;
  return element == Element::kTf32 || element == Element::kDouble || element == Element::kFloat ||
                 element == Element::kInteger
             ? 1
             : 4;
}

// Of Launch::mma_order.
constexpr uint32_t kOrderOfH200 = 3;

constexpr uint32_t kColumns = 8, kMostRows = 16;
constexpr uint32_t kMostDepth = 32, kMostDepthOfTile = 64;  // for fast code, and for any

struct Tile {
  uint32_t rows, depth;
  Element a, d;
  // Of an instruction that an H200 doesn't have, with .kind: no product loses bits because it is small.
  bool of_kind = false;
  double of_a[kMostRows][kMostDepthOfTile];
  double of_b[kMostDepthOfTile][kColumns];
  double sums[kMostRows][kColumns];  // of C, then D's, not yet rounded to D's type
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_OPS_TILE_H_
