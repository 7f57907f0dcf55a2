// Products of small integers, two or four elements of the sum at a time.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_WORDS_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_WORDS_H_

#include "schedule/default/matmul.h"
#include "schedule/default/panels.h"

namespace kernpack::sdk::ir {

// The product with both operands packed into words of i32, each of n neighbours along the sum: of two numbers of 16 bits, or of four
// of 8 bits, of which one operand's are unsigned.
//
//   left[..., step, i] = a[i, step * n], a[i, step * n + 1], ..., from the lowest bits on; right alike
//   sums[..., i, j] = sum over step of part 0 of left * part 0 of right + part 1 of left * part 1 of right + ...
//
// Processors have one instruction for all of that (PMADDWD, VPDPBUSD), which the generator of kind llvm finds in this form. Sums of
// integers wrap, so the order changes no bit. If both operands are signed bytes, 128 is added to the left ones; the stage `excess` is
// the sum that has to be subtracted for it.
// Nothing where the numbers are of another kind, or the processor has no such instruction.
std::optional<Matmul> InWords(const Matmul& matmul, const Panels& panels, const Processor& machine);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_WORDS_H_
