// A warp while it runs; the lanes of a mask; and running a warp with one thread.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_WARP_H_
#define KERNPACK_SDK_EMULATOR_EXEC_WARP_H_

#include <bit>
#include <cstdint>
#include <vector>

#include "exec/async_reads.h"
#include "exec/group_registers.h"

namespace kernpack::emulator {

// The first lane of a mask that isn't empty.
inline uint32_t First(uint32_t mask) { return static_cast<uint32_t>(std::countr_zero(mask)); }

// True if the mask has one lane, or none.
inline bool IsOne(uint32_t mask) { return (mask & (mask - 1)) == 0; }

struct Block;
struct Instruction;

constexpr uint32_t kLanes = 32;

// Lanes that are at one place. A warp that diverges is several of these.
struct Group {
  enum class State : uint8_t { kReady, kBarrier, kWarpSync, kCollective, kClusterWait };
  uint32_t pc = 0;
  uint32_t mask = 0;
  State state = State::kReady;
  uint32_t barrier = 0;  // number of the barrier
  uint32_t members = 0;  // whom it waits for
};

// A cp.async that has not arrived.
struct Copy {
  uint32_t lane = 0;
  uint32_t group = 0;  // of its thread, from 0
  uint32_t statement = 0;
  uint32_t bytes = 0;
  uint32_t given = 0;  // bytes that are read; zeros follow
  uint64_t to = 0;     // in shared memory
  const uint8_t* from = nullptr;
  uint64_t serial = 0;  // of the warp's instruction
};

// A cp.async.bulk out of shared memory, whose source may still be read.
struct BulkRead {
  uint32_t lane = 0;
  uint32_t group = 0;  // of its thread, from 0
  AsyncReads::Id read;
};

// The last wait of a warp, which may go on in a loop.
struct WaitPlace {
  static constexpr uint64_t kProducts = ~uint64_t{0};
  const Instruction* instruction = nullptr;
  uint64_t place = 0;  // of the mbarrier, in Block::shared; kProducts: for products of wgmma
  uint32_t lane = 0;
  uint32_t asked = 0;  // parity, or the phase of a token
  bool by_parity = false;
  bool failed = false;  // since its turn began
};

struct Warp {
  unsigned char* registers = nullptr;
  Block* block = nullptr;
  uint32_t index = 0;      // among all that run together
  uint32_t cluster_first = 0;  // the index of its cluster's first warp
  uint32_t rank = 0;       // of its block, among the blocks that run together
  uint32_t in_block = 0;   // its number in that block
  uint64_t shared_base = 0;  // where that block's memory begins in Block::shared
  uint32_t threads = 0;    // lanes that are threads
  uint32_t exited = 0;
  uint32_t carry = 0;      // CC.CF of each lane
  uint32_t group_count = 0;
  Group groups[kLanes];
  uint64_t instructions = 0;
  uint64_t lanes_run = 0;
  std::vector<uint32_t>
      taint;  // of each register, lanes with a value that nothing has written; empty until there is one
  uint32_t taint_statement = 0, taint_lane = 0;
  uint64_t taint_address = 0;
  uint32_t cluster_arrived = 0;  // lanes at barrier.cluster.arrive, which hasn't opened yet
  uint32_t cluster_passed = 0;   // lanes for which it has opened, and that have yet to wait
  uint64_t effects = 0;  // what it did that others may wait for
  bool spins = false;  // it has asked for what isn't there yet: others may run
  uint32_t clock = 1;      // counts what orders memory accesses inside the warp
  uint32_t init_fenced = 0;  // the clock of its last fence.mbarrier_init

  std::vector<Copy> copies;
  uint32_t copy_groups[kLanes] = {};  // that each thread has committed
  std::vector<BulkRead> bulk_reads;
  uint32_t bulk_groups[kLanes] = {};  // that each thread has committed

  GroupRegisters group_registers;
  WaitPlace wait;

  uint32_t live() const { return threads & ~exited; }
};

// A register's words, one for each lane.
inline uint32_t* Words(Warp& warp, uint32_t slot) { return reinterpret_cast<uint32_t*>(warp.registers + slot); }

// The only thread of a warp, which never parts or meets: a block of one thread is nothing else.
enum class Alone : uint8_t {
  kNeedsGroups,  // at an instruction that concerns others or ends the thread, or where something is noted of each register
  kTimeIsOver,
};

// Runs a warp with one thread until it has to stop; groups[0] says where.
Alone RunThread(Warp* warp);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_WARP_H_
