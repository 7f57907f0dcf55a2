// What surrounds a buffer, and lies between the elements of a strided tensor. Each buffer of a call has a number, and a fill of
// its own made from it: what a kernel copies or computes from one buffer's surroundings into another's is a change there. In the
// floats of the buffer's dtype the fill is signalling NaNs. Arithmetic makes quiet ones of them and hands the other bits on: so
// what is computed in place shows too, and a result tells next to which buffer it was read.
#ifndef KERNPACK_SRC_CHECK_OUTSIDE_H_
#define KERNPACK_SRC_CHECK_OUTSIDE_H_

#include "check/pattern.h"

namespace kernpack::host::check {

constexpr unsigned kOutsideTags = 55;  // 1 to 55: what is left of a bf16's bits, without the NaNs that processors make

inline unsigned TagOfNumber(unsigned number) { return number % kOutsideTags + 1; }

// Eight bytes over and over; places are counted from the start of the buffer.
struct Pattern {
  uint64_t bytes = 0;
  uint8_t At(int64_t place) const { return static_cast<uint8_t>(bytes >> (place & 7) * 8); }
};

inline void FillPattern(char* at, size_t bytes, Pattern fill, int64_t place) {
  for (size_t i = 0; i < bytes && i < 8; ++i) at[i] = static_cast<char>(fill.At(place + static_cast<int64_t>(i)));
  for (size_t done = 8; done < bytes; done *= 2) std::memcpy(at + done, at, done < bytes - done ? done : bytes - done);
}

inline bool HoldsPattern(const char* at, size_t bytes, Pattern fill, int64_t place) {
  for (size_t i = 0; i < bytes && i < 8; ++i) {
    if (static_cast<uint8_t>(at[i]) != fill.At(place + static_cast<int64_t>(i))) return false;
  }
  return bytes <= 8 || std::memcmp(at, at + 8, bytes - 8) == 0;
}

constexpr KpDLDataType kUntyped{KP_DTYPE_FLOAT, 32, 1};  // scratch memory: taken for floats

// `is_input`: of integers that are only read, the repeated call sees zeros, so that branches on them differ.
Pattern OutsidePattern(unsigned tag, KpDLDataType dtype, bool is_input, Turn turn);
// Whose surroundings a float (or a part of a complex number) was computed from, or converted once: a tag, or 0.
unsigned OutsideTagOf(const char* at, KpDLDataType dtype);

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_CHECK_OUTSIDE_H_
