// From addresses to the host's memory: bounds, alignment, what has been written, races.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_ACCESS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_ACCESS_H_

#include <cstdint>

#include "exec/block.h"
#include "exec/race.h"

namespace kernpack::emulator {

using AccessKind = RaceShadow::Access;

// The memory access of an instruction: for each lane of the mask, `bytes` at an address.
struct Access {
  Space space = Space::kGeneric;  // as found: never kGeneric
  AccessKind kind = AccessKind::kRead;
  uint32_t bytes = 0;
  uint32_t align = 0;  // of which an address has to be a multiple; 0: `bytes`, if that is a power of two
  uint32_t mask = 0;
  uint64_t address[kLanes];  // in the space; of global memory the device's, of shared memory in Block::shared
  uint8_t* host[kLanes];     // where it is here
  uint32_t unwritten = 0;    // lanes that read shared memory that nothing has written
};

// Takes one space's lanes of `remaining` (generic addresses may be of several) and finds their memory. Throws Fault for what
// must not be touched. Reads are checked here; a write is told of by Wrote once its bytes are there.
void Locate(Warp& warp, const Instruction& instruction, const uint64_t* addresses, uint32_t* remaining, Access* access);
void Wrote(Warp& warp, const Instruction& instruction, const Access& access);
// One lane's access to shared memory, before its bytes are written. `same`: it writes the bytes that are there.
void CheckRaces(Warp& warp, const Instruction& instruction, AccessKind kind, uint64_t address, uint32_t bytes,
                uint32_t lane, bool same);
inline void CheckRaces(Warp& warp, const Instruction& instruction, const Access& access, uint32_t lane, bool same) {
  CheckRaces(warp, instruction, access.kind, access.address[lane], access.bytes, lane, same);
}
bool RacesChecked(const Warp& warp, Space space);

// The space of a generic address.
Space WindowOf(uint64_t address);
// AddressSpace::Find, which the block remembers.
const Region* FindRegion(Block& block, uint64_t address);

// The addresses of a memory instruction whose address is operand 0.
void Addresses(const Warp& warp, const Instruction& instruction, uint64_t* out);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_ACCESS_H_
