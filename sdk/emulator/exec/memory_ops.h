// Instructions that touch memory. Operand 0 is the address' register (operand 7 its bytes a lane); the registers of values are
// in Program::extra.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_MEMORY_OPS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_MEMORY_OPS_H_

#include <string_view>

#include "program/program.h"

namespace kernpack::emulator {

void RunLoad(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunStore(Warp& warp, const Instruction& instruction, uint32_t mask);
// atom, and red where there is no destination: operands 1 destination, 2 and 3 sources.
void RunAtomic(Warp& warp, const Instruction& instruction, uint32_t mask);
// cp.async: operand 0 is the shared address, operand 1 the global one (8 bytes a lane), operand 2 the bytes to read, if given.
void RunCopyAsync(Warp& warp, const Instruction& instruction, uint32_t mask);
// cp.async.commit_group; and wait_group, which leaves `displacement` groups, or -1: wait_all.
void RunCommitCopies(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunWaitForCopies(Warp& warp, const Instruction& instruction, uint32_t mask);

// cp.async.bulk: operand 0 is the destination, 1 the source, 2 the bytes, 3 the mbarrier, 4 the blocks of a multicast. A reduction has as its variant which update
// it is, as its count the bytes of an element, which is 0 otherwise.
void RunBulkCopy(Warp& warp, const Instruction& instruction, uint32_t mask);
// cp.async.bulk.commit_group; and wait_group, which leaves `displacement` groups.
void RunCommitBulks(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunWaitForBulks(Warp& warp, const Instruction& instruction, uint32_t mask);
// mbarrier and cp.async.mbarrier: operand 1 the destination (a token, or the predicate of a test), 2 a count, token or parity.
void RunMBarrier(Warp& warp, const Instruction& instruction, uint32_t mask);
// fence.mbarrier_init: orders mbarrier.init before a relaxed arrival at the cluster's barrier.
void RunInitFence(Warp& warp, const Instruction& instruction, uint32_t mask);
// fence.proxy.async: the async proxy sees what the thread has seen.
void RunProxyFence(Warp& warp, const Instruction& instruction, uint32_t mask);
// membar and fence, of a scope wider than the block's.
void RunFence(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunPendingCount(Warp& warp, const Instruction& instruction, uint32_t mask);
// mapa and getctarank: operands 0 destination, 1 address, 2 rank.
void RunMapRank(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunGetRank(Warp& warp, const Instruction& instruction, uint32_t mask);

// Which update ".add.f32" of an atomic is, or of a copy in bulk, which has some that atomics don't have; false where there is none such.
bool FindAtomic(std::string_view operation, std::string_view type, uint8_t* variant, bool in_bulk = false);
// An update of the element at `at`, which has 2, 4 or 8 bytes, by the one at `by`.
void UpdateMemory(uint8_t variant, uint32_t bytes, uint8_t* at, const uint8_t* by);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_MEMORY_OPS_H_
