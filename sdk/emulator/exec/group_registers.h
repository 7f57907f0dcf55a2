// The registers of a warp that wgmma uses.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_GROUP_REGISTERS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_GROUP_REGISTERS_H_

#include <cstdint>
#include <vector>

namespace kernpack::emulator {

// Which of them a product that hasn't ended uses, and which were written since the last wgmma.fence. A register is counted by its
// slot / kSlotBytes. All are empty for kernels without wgmma.
struct GroupRegisters {
  static constexpr uint32_t kSlotBytes = 128;
  std::vector<uint16_t> sums;  // products that write it
  std::vector<uint16_t> factors;  // products that read it
  std::vector<uint32_t> written;  // the number of the fence before the last write
  uint32_t fence = 0;  // how many there were
  uint32_t in_flight = 0;  // products

  void Reset(uint32_t register_bytes) {
    const uint32_t count = register_bytes / kSlotBytes + 1;
    sums.assign(count, 0);
    factors.assign(count, 0);
    written.assign(count, 0);
    fence = in_flight = 0;
  }
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_GROUP_REGISTERS_H_
