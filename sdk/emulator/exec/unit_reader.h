// Reads a matrix that a descriptor describes, for wgmma and tcgen05.mma: each unit of shared memory is checked.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_UNIT_READER_H_
#define KERNPACK_SDK_EMULATOR_EXEC_UNIT_READER_H_

#include <cstdint>
#include <vector>

#include "exec/group_operand.h"
#include "exec/warp.h"
#include "ops/strip.h"
#include "program/program.h"

namespace kernpack::emulator {

// Reads units of shared memory for a lane, and checks each.
class UnitReader {
 public:
  // `used`: the bytes of a unit that count. The others need not have been written.
  UnitReader(Warp* warp, const Instruction& i, uint32_t lane, const char* what, std::vector<uint32_t>* read,
             uint32_t used = GroupOperand::kUnit)
      : warp_(*warp), i_(i), lane_(lane), what_(what), read_(*read), used_(used) {}

  // `swizzle`: of the operand. `*known`: bytes that have been written.
  const uint8_t* At(uint64_t address, uint32_t swizzle, bool* known);

  // Reads the units of `rows` rows from `first` on, whose elements become those of rows of 32 bytes. Calls `unknown(row)` for rows with
  // unwritten ones.
  template <class Unknown>
  void Read(const GroupOperand& operand, uint32_t element_bytes, uint32_t first, uint32_t rows, uint8_t* out,
            Unknown unknown) {
    constexpr uint32_t kRow = kWordsAlongK * 4;
    operand.ForUnits(first, rows, kRow / element_bytes, [&](uint64_t address, uint32_t row, uint32_t k) {
      bool known = true;
      const uint8_t* const unit = At(address, operand.swizzle(), &known);
      uint8_t* const to = out + size_t{row - first} * kRow + size_t{k} * element_bytes;
      if (!operand.transposed()) {
        __builtin_memcpy(to, unit, GroupOperand::kUnit);
        if (!known) unknown(row - first);
        return;
      }
      for (uint32_t e = 0; e < GroupOperand::kUnit / element_bytes; ++e) {
        __builtin_memcpy(to + size_t{e} * kRow, unit + size_t{e} * element_bytes, element_bytes);
        if (!known) unknown(row - first + e);
      }
    });
  }

 private:
  // A Fault if a copy by tensor map has put the unit there with another swizzle than the operand's.
  void NeedSwizzle(uint64_t address, uint32_t swizzle);

  Warp& warp_;
  const Instruction& i_;
  const uint32_t lane_;
  const char* const what_;
  std::vector<uint32_t>& read_;
  const uint32_t used_;
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_UNIT_READER_H_
