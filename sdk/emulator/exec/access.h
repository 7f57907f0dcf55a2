// From addresses to the host's memory: bounds, alignment, what has been written, races.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_ACCESS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_ACCESS_H_

#include <cstdint>

#include "exec/block.h"
#include "exec/race.h"

namespace kernpack::emulator {

using AccessKind = RaceShadow::Access;

// What an instruction touches: for each lane of the mask, `bytes` at an address.
struct Access {
  Space space = Space::kGeneric;  // as found: never kGeneric
  AccessKind kind = AccessKind::kRead;
  uint32_t bytes = 0;
  uint32_t mask = 0;
  uint64_t address[kLanes];  // in the space; of global memory the device's
  uint8_t* host[kLanes];     // where it is here
  bool contiguous = false;   // all 32 lanes, one behind the other from host[0]
  bool uniform = false;      // all 32 lanes at host[0]
  uint32_t unwritten = 0;    // lanes that read shared memory that nothing has written
};

// Takes one space's lanes of `remaining` (generic addresses may be of several) and finds their memory. Throws Fault for what
// must not be touched. Reads are checked here; a write is told of by Wrote once its bytes are there.
void Locate(Warp& warp, const Instruction& instruction, const uint64_t* addresses, uint32_t* remaining, Access* access);
// `changes`: lanes whose bytes differ from what was there.
void Wrote(Warp& warp, const Instruction& instruction, const Access& access);
// Shared memory only, and before the bytes are written: `changes` are the lanes that write other bytes than those there.
void CheckRaces(Warp& warp, const Instruction& instruction, const Access& access, uint32_t lane, bool same);
bool RacesChecked(const Warp& warp, const Access& access);

// The addresses of a memory instruction whose address is operand 0.
void Addresses(const Warp& warp, const Instruction& instruction, uint64_t* out);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_ACCESS_H_
