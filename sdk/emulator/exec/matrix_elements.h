// Elements of matrices: read from words, and sums as the words of registers.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_MATRIX_ELEMENTS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_MATRIX_ELEMENTS_H_

#include <cstdint>

#include "exec/matrix.h"
#include "exec/warp.h"

#ifndef KP_ISA
#define KP_ISA Plain
#endif
#include "ops/few_bits.h"
#include "ops/small_float.h"

namespace kernpack::emulator {

// Calls `use` with what gives element `index` of a word, so that loops over elements are compiled for their type. Not of f64.
template <class F>
void WithElement(Element element, F use) {
  switch (element) {
    case Element::kHalf:
      return use([](uint32_t word, uint32_t i) { return Plain::Half::Read(static_cast<uint16_t>(word >> (16 * i))); });
    case Element::kBrain:
      return use([](uint32_t word, uint32_t i) { return Plain::Brain::Read(static_cast<uint16_t>(word >> (16 * i))); });
    case Element::kTf32:  // the lower bits aren't looked at
      return use([](uint32_t word, uint32_t) -> double { return __builtin_bit_cast(float, word & 0xffffe000U); });
    case Element::kFloat:
      return use([](uint32_t word, uint32_t) -> double { return __builtin_bit_cast(float, word); });
    case Element::kInteger:
      return use([](uint32_t word, uint32_t) -> double { return static_cast<int32_t>(word); });
    case Element::kSigned8:
      return use([](uint32_t word, uint32_t i) -> double { return static_cast<int8_t>(word >> (8 * i)); });
    case Element::kUnsigned8:
      return use([](uint32_t word, uint32_t i) -> double { return static_cast<uint8_t>(word >> (8 * i)); });
    case Element::kE4m3:
      return use([](uint32_t word, uint32_t i) { return Plain::E4m3::Read(static_cast<uint8_t>(word >> (8 * i))); });
    case Element::kE5m2:
      return use([](uint32_t word, uint32_t i) { return Plain::E5m2::Read(static_cast<uint8_t>(word >> (8 * i))); });
    case Element::kE3m2:
      return use([](uint32_t word, uint32_t i) { return Plain::E3m2::Read(word >> (8 * i)); });
    case Element::kE2m3:
      return use([](uint32_t word, uint32_t i) { return Plain::E2m3::Read(word >> (8 * i)); });
    case Element::kE2m1:
      return use([](uint32_t word, uint32_t i) { return Plain::E2m1::Read(word >> (8 * i + 2)); });
    case Element::kE2m1Packed:
      return use([](uint32_t word, uint32_t i) { return Plain::E2m1::Read(word >> (4 * i)); });
    case Element::kDouble:
      return;
  }
}

// 16 elements of 4 or 6 bits that are one after the other at the beginning of 16 bytes become the lower bits of a byte each, moved up by
// `shift`: mma takes those of 4 bits in the middle of their bytes.
inline void SpreadUnit(uint8_t* unit, uint32_t bits, uint32_t shift) {
  uint8_t spread[16];
  for (uint32_t e = 0; e < 16; ++e) {
    const uint32_t at = e * bits, two = unit[at / 8] | uint32_t{unit[at / 8 + 1]} << 8;
    spread[e] = static_cast<uint8_t>((two >> at % 8 & ((1U << bits) - 1)) << shift);
  }
  __builtin_memcpy(unit, spread, sizeof spread);
}

// Puts sum `number` of a lane, of type `element`, into its word of a register. Not of f64.
void PutSum(Element element, bool clamp, double sum, uint32_t number, uint32_t* word);

// Where an element of a lane's registers is: of A (rows and depth), and of C and D (rows and columns), with 8 columns.
struct MatrixPlace {
  uint32_t row, column;
};
inline MatrixPlace PlaceInA(uint32_t rows, uint32_t lane, uint32_t reg, uint32_t index, uint32_t each) {
  const uint32_t below = rows == 16 ? reg & 1 : 0, group = rows == 16 ? reg >> 1 : reg;
  return {lane / 4 + 8 * below, group * 4 * each + lane % 4 * each + index};
}
inline MatrixPlace PlaceInC(uint32_t lane, uint32_t number) {
  return {lane / 4 + number / 2 * 8, lane % 4 * 2 + number % 2};
}

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_MATRIX_ELEMENTS_H_
