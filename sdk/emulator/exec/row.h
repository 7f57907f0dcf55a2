// The usual access: the threads of a warp use one address, or neighbouring ones. It's checked as a whole.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_ROW_H_
#define KERNPACK_SDK_EMULATOR_EXEC_ROW_H_

#include <cstdint>

#include "exec/access.h"

namespace kernpack::emulator {

struct Row {
  AccessKind kind = AccessKind::kRead;
  uint32_t bytes = 0;  // of each lane
  uint32_t mask = 0;
  uint32_t first = 0;  // the first lane of the mask
  uint32_t step = 0;   // from a lane to the next: `bytes`, or 0
  Space space = Space::kGlobal;
  uint64_t address = 0;  // of the first lane, in the space
  uint8_t* host = nullptr;
  const Region* region = nullptr;  // of global memory

  uint64_t Offset(uint32_t lane) const { return uint64_t{lane - first} * step; }
};

// False where the access isn't a row, or isn't known to be right, or something has to be noted about each lane: Locate finds out.
// `row` has its kind and bytes.
bool FindRow(Warp& warp, const Instruction& instruction, uint32_t mask, Row* row);
// Before its bytes are written; `same`: lanes that write the bytes that are there.
void CheckRowRaces(Warp& warp, const Instruction& instruction, const Row& row, uint32_t same);
// Once the bytes of a row are there.
void WroteRow(Warp& warp, const Row& row);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_ROW_H_
