// From addresses to the host's memory: bounds, alignment, what has been written, races; and accesses that have rules of their own:
// copies under way (cp.async), loads and stores of one thread.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_ACCESS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_ACCESS_H_

#include <cstdint>

#include "exec/block.h"
#include "exec/race.h"
#include "exec/warp.h"
#include "program/program.h"

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
  uint8_t* host[kLanes];  // where it is here
  uint32_t unwritten = 0;  // lanes that read shared memory that nothing has written
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
// Throws Fault where a lane lets the async proxy read a write that no fence.proxy.async has covered.
void NeedFenced(const Warp& warp, const Instruction& instruction, uint64_t address, uint32_t bytes, uint32_t lane);
// Throws Fault where a lane writes what wgmma or a copy in bulk may still be reading.
void NeedUnread(const Warp& warp, const Instruction& instruction, uint64_t address, uint32_t bytes, uint32_t lane);

// The space of a generic address.
Space GetWindow(uint64_t address);
// AddressSpace::Find, which the block remembers.
const Region* FindRegion(Block& block, uint64_t address);

// The addresses of a memory instruction whose address is operand 0.
void Addresses(const Warp& warp, const Instruction& instruction, uint64_t* out);

// cp.async. A copy arrives at the latest possible moment: when its thread waits for it. Until then no thread may touch its
// destination.
// Throws Fault when a lane touches shared memory to which a copy is under way.
void NeedArrived(const Warp& warp, const Instruction& instruction, const Access& access);
// Marks the words to which a copy goes, or unmarks them.
void SetUnderWay(Block* block, const Copy& copy, uint8_t value);

// Loads and stores of global memory by one thread of a warp: a block of one thread, or the part of a kernel that one thread does.
// False where nothing was done: the access isn't by one thread to global memory, or isn't known to be right. `slots` of the values as in
// Program::extra.
bool LoadOne(Warp& warp, const Instruction& instruction, uint32_t mask, const uint32_t* slots);
bool StoreOne(Warp& warp, const Instruction& instruction, uint32_t mask, const uint32_t* slots);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_ACCESS_H_
