// The operands of tcgen05.mma, read: the instruction descriptor and the descriptors of matrices in shared memory.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_TENSOR_FORM_H_
#define KERNPACK_SDK_EMULATOR_EXEC_TENSOR_FORM_H_

#include <cstdint>

#include "exec/block_scales.h"
#include "exec/tensor_memory.h"
#include "ops/tile.h"

namespace kernpack::emulator {

// Of a dense product.
struct TensorForm {
  uint32_t rows = 0, columns = 0;
  Element a{}, b{}, d = Element::kFloat;
  bool negates_a = false, negates_b = false, transposes_a = false, transposes_b = false;
  bool clamps = false;  // integers
  ScaleType scale_type = ScaleType::kUe8m0;
  uint32_t scale_of_a = 0, scale_of_b = 0;  // which byte of a column has the first scale

  // Bits of an element in shared memory, where 16 of them begin each unit of 16 bytes if they have 4 or 6.
  static uint32_t BitsInUnit(Element element);
};

// Of the lane that issues an instruction.
class TensorOperands {
 public:
  TensorOperands(const Warp& warp, const Instruction& instruction, uint32_t lane);

  uint32_t Word(int operand) const;
  uint64_t Descriptor(int operand, const char* what) const;
  // Of tcgen05.mma; `scales` is how many scales a row of A has.
  TensorForm Form(uint32_t scales) const;
  [[noreturn]] void Wrong(const char* what) const;

 private:
  const Warp& warp_;
  const Instruction& i_;
  const uint32_t lane_;

  TensorKind kind() const { return static_cast<TensorKind>(i_.variant); }
  uint32_t Field(uint32_t at, uint32_t count) const { return Word(3) >> at & ((1U << count) - 1); }
  void NeedSize(const TensorForm& form) const;
  Element FormatAt(uint32_t at) const;
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_TENSOR_FORM_H_
