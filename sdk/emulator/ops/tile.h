// A tile of a matrix product, D = A * B + C. Its elements are in doubles, which hold all that the tensor cores take. The sums are compiled
// for each instruction set, as the tables are.
#ifndef KERNPACK_SDK_EMULATOR_OPS_TILE_H_
#define KERNPACK_SDK_EMULATOR_OPS_TILE_H_

#include <cstdint>

namespace kernpack::emulator {

enum class Element : uint8_t { kHalf, kBrain, kTf32, kDouble, kSigned8, kUnsigned8, kE4m3, kE5m2, kFloat, kInteger };

// Elements of it in a register.
constexpr uint32_t PerRegister(Element element) {
  if (element == Element::kHalf || element == Element::kBrain) return 2;
  return element == Element::kTf32 || element == Element::kDouble || element == Element::kFloat ||
                 element == Element::kInteger
             ? 1
             : 4;
}

// Of Launch::mma_order.
constexpr uint32_t kOrderOfH200 = 3;

constexpr uint32_t kColumns = 8, kMostRows = 16, kMostDepth = 32;

struct Tile {
  uint32_t rows, depth;
  Element a, d;
  double of_a[kMostRows][kMostDepth];
  double of_b[kMostDepth][kColumns];
  double sums[kMostRows][kColumns];  // of C, then D's, not yet rounded to D's type
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_OPS_TILE_H_
