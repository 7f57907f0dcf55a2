// Tensor memory of sm_100: 128 lanes of 512 columns of 32 bits for each block, which tcgen05 instructions use. Products (tcgen05.mma) are
// computed when they're issued, but nobody may count on that: they end when a thread has waited for the mbarrier of a tcgen05.commit.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_TENSOR_MEMORY_H_
#define KERNPACK_SDK_EMULATOR_EXEC_TENSOR_MEMORY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "exec/async_reads.h"
#include "program/program.h"

namespace kernpack::emulator {

struct Block;
struct MBarrier;

constexpr uint32_t kTensorLanes = 128, kTensorColumns = 512;
constexpr uint32_t kStripLanes = 16;  // that are looked at together

// A tcgen05.ld or .st: it has ended when its warp has waited for those of its kind.
struct TensorTouch {
  static constexpr uint32_t kNobody = ~0U;
  uint32_t warp = kNobody;  // of all that run together
  uint32_t wait = 0;  // the number of its warp's wait that ends it
  uint32_t statement = 0;
};

// 16 lanes of a column.
struct TensorCell {
  uint16_t written = 0;  // a bit for each lane
  uint32_t writer = 0, reader = 0;  // the last products, counted from 1
  TensorTouch store, load;
};

struct TensorProduct {
  uint32_t warp = 0, lane = 0;  // the thread that issued it
  uint32_t statement = 0;
  uint32_t commit = 0;  // the first tcgen05.commit of that thread after it; 0: there is none yet
  std::optional<AsyncReads::Id> reads;  // of shared memory, until the commit has arrived
};

// A tcgen05.commit that has not arrived. It arrives at the latest possible moment: when a thread tests its mbarrier.
struct TensorCommit {
  uint64_t barrier = 0;  // the place of its mbarrier
  uint32_t rank = 0;  // of its block
  uint32_t number = 0;  // among its block's, from 1
  uint32_t core = 0;  // its block's number in the cluster
  uint32_t statement = 0;
  std::vector<uint32_t> clocks;  // that its thread handed over
};

struct TensorMemory {
  struct Allocation {
    uint32_t first, count;
    uint32_t warp, statement;
  };
  struct Member {  // a warp
    std::vector<uint32_t> load_waits, store_waits;  // its clock at each tcgen05.wait
  };
  std::vector<uint32_t> words;  // [lane][column]; made when columns are first allocated
  std::vector<TensorCell> cells;  // [column][16 lanes]
  std::vector<Allocation> allocations;
  std::vector<Member> members;
  std::vector<TensorProduct> products;
  uint32_t commits = 0;  // how many there were
  std::optional<uint32_t> relinquished;  // the statement that gave up the right to allocate

  void Reset(uint32_t warps);
  uint32_t& At(uint32_t lane, uint32_t column) { return words[size_t{lane} * kTensorColumns + column]; }
  TensorCell& Cell(uint32_t strip, uint32_t column) {
    return cells[size_t{column} * (kTensorLanes / kStripLanes) + strip];
  }
};

// Of a warp's block; and that block's number in its cluster.
TensorMemory& GetTensorMemory(const Warp& warp);
uint32_t GetTensorCore(const Warp& warp);

// An access to 16 lanes of one column, by a lane of the warp. Throws Fault for a column that isn't allocated, and where nothing orders the
// access behind those of others that it must follow.
enum class TensorUse : uint8_t { kLoad, kStore, kFactor, kScale, kSum, kCopy, kFree };
void NeedTensorCell(const Warp& warp, const Instruction& instruction, uint32_t lane, uint32_t strip, uint32_t column,
                    TensorUse use);

// Lets the oldest commit arrive at the mbarrier at `place`. False: there is none, or no arrival is expected.
bool ArriveForCommit(Block* block, uint64_t place, MBarrier* barrier);
// Throws Fault when the blocks have ended and columns are still allocated.
void NeedDeallocated(const Block& block);

// tcgen05.alloc: operand 0 the address of shared memory that gets the columns' address, 1 their number; and dealloc: 1 the address, 2 the
// number.
void RunTensorAllocate(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunTensorDeallocate(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunTensorRelinquish(Warp& warp, const Instruction& instruction, uint32_t mask);
// tcgen05.ld and .st: operand 0 the address. Program::extra: the second half's offset in columns, then the registers. The variant is the
// shape.
enum class TensorShape : uint8_t { k32x32b, k16x32bx2, k16x64b, k16x128b, k16x256b };
void RunTensorMemoryLoad(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunTensorMemoryStore(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunTensorWaitForLoads(Warp& warp, const Instruction& instruction, uint32_t mask);
void RunTensorWaitForStores(Warp& warp, const Instruction& instruction, uint32_t mask);
// tcgen05.mma: operand 0 D's address, 1 A's descriptor or address (`count` 2), 2 B's descriptor,
// 3 the instruction descriptor, 4 the predicate that tells that D is added to (kNegateC), 5 and 6 the addresses of A's and B's scales.
// Program::extra: the displacements of D and A, how many scales a row has, the displacements of their addresses, the power of two that
// divides D before it's added to, and four registers, a bit of which is set for each lane of D that stays as it is (kNoOperand: none is).
// The variant is the kind.
enum class TensorKind : uint8_t { kF16, kTf32, kF8f6f4, kI8, kMxf8f6f4, kMxf4, kMxf4nvf4 };
void RunTensorMultiply(Warp& warp, const Instruction& instruction, uint32_t mask);
// tcgen05.cp: operand 0 the address, 1 the descriptor. Program::extra: the address' displacement. The variant is the shape.
enum class TensorCopyShape : uint8_t { k128x256b, k128x128b, k64x128b0213, k64x128b0123, k32x128b };
void RunTensorCopy(Warp& warp, const Instruction& instruction, uint32_t mask);
// tcgen05.commit: operand 0 the mbarrier's address, 1 the blocks of a multicast.
void RunTensorCommit(Warp& warp, const Instruction& instruction, uint32_t mask);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_TENSOR_MEMORY_H_
