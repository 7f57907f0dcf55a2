// The addresses of copies in bulk: of one lane, and several in one instruction.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_BULK_ACCESS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_BULK_ACCESS_H_

#include <functional>
#include <memory>
#include <vector>

#include "exec/access.h"

namespace kernpack::emulator {

constexpr uint32_t kBulkUnit = 16;  // bytes, of addresses and sizes

// One lane's address, in the space.
Access LocateOne(Warp& warp, const Instruction& instruction, uint32_t lane, AccessKind kind, uint32_t bytes,
                 uint32_t align = kBulkUnit);
// The instruction as one whose address is operand `operand`. Program::extra has, for each such address from `index` on, the
// displacement, the bytes of an address, and the space.
constexpr uint32_t kAddressWords = 3;
Instruction WithAddress(const Warp& warp, const Instruction& instruction, uint32_t operand, uint32_t index);
// Counts bytes that follow each other, as accesses of whole warps with `unit` bytes a thread.
void CountBytes(const Warp& warp, const Instruction& instruction, Space space, AccessKind kind, uint64_t address,
                uint32_t bytes, uint32_t unit = kBulkUnit);

// A lane's address in shared memory, of a block of the cluster if `rank` isn't kNoOperand.
Access LocateInBlock(Warp& warp, const Instruction& address, uint32_t lane, uint32_t rank, uint32_t bytes,
                     uint32_t align);
// Calls `use` for each block of the lane's multicast, which is operand 4; with kNoOperand if the copy has none.
void ForDestinations(const Warp& warp, const Instruction& instruction, uint32_t lane,
                     const std::function<void(uint32_t rank)>& use);
// A copy to `to` begins, of which the mbarrier tells. From `from`, or of a box, which has been swizzled so.
void BeginBulk(Warp& warp, const Instruction& instruction, uint32_t lane, const Access& to, const Access& barrier,
               const uint8_t* from, std::shared_ptr<const std::vector<uint8_t>> box, uint8_t swizzle = 0);
// A lane's copy reads shared memory, until the thread waits for its group.
void ReadForBulk(Warp& warp, const Instruction& instruction, uint32_t lane, const Access& source);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_BULK_ACCESS_H_
