// The memory around a buffer, and between the elements of a strided tensor. Each buffer of a call has a number, and a fill of
// its own made from it: what a kernel copies or computes from one buffer's surroundings into another's is a change there. In the
// floats of the buffer's dtype the fill is signalling NaNs. Arithmetic makes quiet ones of them and hands the other bits on: so
// what is computed in place shows too, and a result tells next to which buffer it was read.
#ifndef KERNPACK_SRC_OBSERVE_CHECK_OUTSIDE_H_
#define KERNPACK_SRC_OBSERVE_CHECK_OUTSIDE_H_

#include "observe/check/pattern.h"

namespace kernpack::host::check {

constexpr unsigned kOutsideTags = 55;  // 1 to 55: what is left of a bf16's bits, without the NaNs that processors make

inline unsigned TagOfNumber(unsigned number) { return number % kOutsideTags + 1; }

constexpr KpDLDataType kUntyped{KP_DTYPE_FLOAT, 32, 1};  // scratch memory: taken for floats

// Its places are counted from the start of the buffer. `is_input`: of integers that are only read, the repeated call sees zeros, so that branches on them differ.
Pattern OutsidePattern(unsigned tag, KpDLDataType dtype, bool is_input, Turn turn);
// Whose surroundings a float (or a part of a complex number) was computed from, or converted once: a tag, or 0.
unsigned GetOutsideTag(const char* at, KpDLDataType dtype);

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_OBSERVE_CHECK_OUTSIDE_H_
