// The blocks of threads that run together, and the launch that they are of. That is one block, unless they can wait for each other:
// those of a cluster, and all of a cooperative launch.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_BLOCK_H_
#define KERNPACK_SDK_EMULATOR_EXEC_BLOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/address_space.h"
#include "exec/async_reads.h"
#include "exec/bulk.h"
#include "exec/counts.h"
#include "exec/mbarrier.h"
#include "exec/race.h"
#include "exec/tensor_memory.h"
#include "exec/warp.h"
#include "exec/warp_group.h"
#include "program/program.h"

namespace kernpack::emulator {

// Optional checks while a kernel runs. Bounds and alignment are always checked.
struct Checks {
  bool uninitialised = true;
  bool races = true;
  bool global_races = false;  // between blocks, through global memory
};

class GlobalRaces;

// A launch that ran before, and that nothing orders before this one.
struct EarlierLaunch {
  uint32_t number = 0;
  std::shared_ptr<const Program> program;
};

struct Launch {
  const Program* program = nullptr;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1};
  bool cooperative = false;  // all blocks run together
  uint32_t number = 1;  // of all that touch one memory
  std::vector<EarlierLaunch> unordered;
  uint64_t workspace = 0;  // memory for their barriers, of a cooperative launch; its address is in %envreg1 and 2
  uint32_t dynamic_shared = 0;
  const uint8_t* parameters = nullptr;
  const AddressSpace* memory = nullptr;
  Checks checks;
  uint32_t cluster_blocks() const { return cluster[0] * cluster[1] * cluster[2]; }

  double seconds = 60;  // a kernel that runs longer is stopped
  const std::atomic<bool>* interrupted = nullptr;  // set: a kernel that runs is stopped
  uint32_t workers = 1;  // threads of the host that run blocks
  uint64_t seed = 0;  // 0: warps in order; else shuffled
  uint32_t mma_order =
      0;  // of mma's sums: 0 in f64, rounded once; 1 in f32, in order; 2 in f32, groups of four from the back; 3 as an H200
  Counts* counts = nullptr;  // what the launch did is added to them
  std::function<void(const std::string&)> print;  // what printf writes; empty: stdout
};

struct Statistics {
  uint64_t instructions = 0;  // of warps
  uint64_t thread_instructions = 0;  // of threads that took part
};

// Runs every block; throws Fault.
Statistics Run(const Launch& launch);

constexpr uint32_t kBarriers = 16;  // of each block

// A tensor map in global memory that a thread has changed.
struct ChangedMap {
  uint64_t address = 0;
  uint32_t statement = 0;
};

struct Block {
  const Launch* launch = nullptr;
  const Program* program = nullptr;
  uint64_t linear = 0;  // number of the block, or of the group of blocks that run together
  uint32_t blocks = 1;  // how many these are
  uint32_t block_warps = 0;  // of each block, one block's after the other's
  uint64_t shared_bytes = 0;  // of each block
  std::vector<uint8_t> shared;  // of all, a warp's at its shared_base
  std::vector<uint8_t> shared_written;
  std::vector<uint8_t> local;  // of all threads, one after the other
  std::vector<Warp> warps;
  std::vector<uint8_t> registers;
  RaceShadow races;
  GlobalRaces* global = nullptr;  // NULL where nobody looks for these
  std::map<uint64_t, MBarrier> mbarriers;  // by their places in `shared`
  const Region* regions[4] = {};  // that were found last: no region comes or goes while a kernel runs
  uint32_t next_region = 0;
  Counts* counts = nullptr;  // of the blocks that one thread of the host runs
  uint32_t copies_under_way = 0;
  std::vector<Bulk> bulks;
  AsyncReads reads;
  std::vector<ChangedMap> changed_maps;  // that no fence.proxy.tensormap has acquired yet
  std::vector<std::vector<const Instruction*>> register_changes;  // setmaxnreg of each warp; empty until there is one
  std::vector<WarpGroup> warp_groups;  // of each block; empty for kernels without wgmma
  std::vector<TensorMemory> tensor_memories;  // of each block; empty for kernels without tcgen05
  std::deque<TensorCommit> commits;  // that have not arrived
  uint32_t cluster_arrivals = 0;  // of warps at barriers of clusters that haven't opened yet
  std::vector<uint8_t> under_way;  // of each word of shared memory, while there are such copies
  std::chrono::steady_clock::time_point deadline;
  const std::atomic<bool>* stop = nullptr;

  // Arrivals without waiting (bar.arrive) at each barrier of each block since it last opened, in threads.
  struct Arrivals {
    uint32_t threads = 0;
    uint32_t expected = 0;
  };
  std::vector<Arrivals> arrivals;

  uint32_t threads() const { return launch->block[0] * launch->block[1] * launch->block[2]; }
  // Where a block's barrier of that number is in `arrivals`.
  static uint32_t Barrier(uint32_t rank, uint32_t number) { return rank * kBarriers + number; }
  std::span<const Warp> GetWarps(uint32_t rank) const {
    return {warps.data() + size_t{rank} * block_warps, block_warps};
  }
  // blockIdx of the block with that rank; and of a block of the group, or cluster, with that number.
  void At(uint32_t rank, uint32_t* out) const;
  void At(uint64_t cluster, uint32_t rank, uint32_t* out) const;
};

// Runs a warp until it waits or has ended.
// False: its time is over, and it could go on.
bool RunWarp(Warp* warp);
// Opens the barriers whose threads are all there. False when there is none; throws Fault where lanes of a warp wait in several places.
bool OpenBarriers(Block* block);
// Throws Fault for a thread that waits, once nothing can go on any more.
void NeedEnded(const Block& block);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_BLOCK_H_
