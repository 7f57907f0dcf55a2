// The usual access: the threads of a warp use one address, or neighbouring ones. It's checked as a whole.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_ROW_ACCESS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_ROW_ACCESS_H_

#include <cstdint>

#include "exec/access.h"
#include "ops/rows.h"

namespace kernpack::emulator {

struct RowAccess {
  AccessKind kind;
  uint32_t bytes;  // of each lane
  Space space;
  Lanes lanes;
  uint64_t address;      // of the first lane, in the space
  const Region* region;  // of global memory
};

// False where the access isn't a row, or isn't known to be right, or something has to be noted about each lane: Locate finds out.
// `row` has its kind and bytes.
bool FindRowAccess(Warp& warp, const Instruction& instruction, uint32_t mask, RowAccess* row);
// Before its bytes are written; `same`: lanes that write the bytes that are there.
void CheckRowRaces(Warp& warp, const Instruction& instruction, const RowAccess& row, uint32_t same);
// Once the bytes of a row are there.
void WroteRow(Warp& warp, const RowAccess& row);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_ROW_ACCESS_H_
