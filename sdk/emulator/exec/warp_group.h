// wgmma: products that the four warps of a warpgroup issue together, and that end when a warp waits for them.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_WARP_GROUP_H_
#define KERNPACK_SDK_EMULATOR_EXEC_WARP_GROUP_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "exec/async_reads.h"
#include "program/program.h"

namespace kernpack::emulator {

struct Block;

constexpr uint32_t kGroupWarps = 4;

// The operands of a wgmma.mma_async besides registers. All warps of the warpgroup have to give the same.
struct GroupOperands {
  const Instruction* instruction = nullptr;
  uint64_t a = 0, b = 0;  // descriptors; a is 0 where A is in registers
  bool keeps = false;  // D is added to
  bool operator==(const GroupOperands&) const = default;
};

// A product that isn't known to have ended. It's computed when the last of the warps issues it.
struct GroupProduct {
  GroupOperands operands;
  uint32_t issued = 0;  // a bit for each of the warps
  uint32_t issue_clocks[kGroupWarps] = {};  // of each warp, with which its reads count: it may be further on by then
  bool computed = false;
  std::vector<uint32_t> clocks;  // that the warps hand over (RaceShadow)
  std::optional<AsyncReads::Id> reads;  // until a warp has waited
  std::vector<uint32_t> registers[kGroupWarps];  // that each warp must leave alone until it has waited
};

struct WarpGroup {
  std::deque<GroupProduct> products;
  uint64_t first = 0;  // the number of products[0]
  struct Member {
    uint64_t issued = 0;  // how many products
    uint64_t ended = 0;  // of which it knows
    std::vector<uint64_t> commits;  // how many were issued at each wgmma.commit_group
  };
  Member members[kGroupWarps];
};

// wgmma.mma_async. Operands 1 and 2 are the descriptors of A and B, 3 the predicate. Program::extra: columns, depth, the elements of A,
// B and D, flags (below), then the registers of D and of A. kSat: integers don't wrap.
enum GroupFlags : uint32_t {
  kNegatesA = 1,
  kNegatesB = 2,
  kTransposesA = 4,
  kTransposesB = 8,
  kAInRegisters = 16,
};
void RunGroupMultiply(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunGroupFence(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunGroupCommit(Warp& warp, const Instruction& instruction, uint32_t mask);
// wgmma.wait_group, which leaves `displacement` groups. False: other warps of the warpgroup have yet to issue what is waited for.
bool WaitForProducts(Warp* warp, const Instruction& instruction, uint32_t mask);

// An instruction that names registers of products (kGroupRegisters). Throws Fault where a product that hasn't ended uses them. False: it
// copies one that isn't there yet, as other warps have yet to issue the product.
bool TouchGroupRegisters(Warp* warp, const Instruction& instruction, uint32_t mask);

// setmaxnreg: `count` eights of registers, `wide` where it's .inc. Threads have all registers that they name; it's only checked that the
// warps of a warpgroup do it together.
void RunSetMaxRegisters(Warp& warp, const Instruction& instruction, uint32_t mask);
// Throws Fault when the blocks have ended and a warp has not done what others of its warpgroup have.
void NeedSameRegisters(const Block& block);

// The warpgroup of a warp.
WarpGroup& GroupOf(const Warp& warp);
// Computes a product of which all warps have issued theirs.
void ComputeProduct(Warp* last, GroupProduct* product);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_WARP_GROUP_H_
