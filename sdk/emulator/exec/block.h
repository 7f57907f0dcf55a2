// A block of threads while it runs, and the launch that it is of.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_BLOCK_H_
#define KERNPACK_SDK_EMULATOR_EXEC_BLOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exec/address_space.h"
#include "exec/counts.h"
#include "exec/race.h"
#include "exec/warp.h"
#include "program/program.h"

namespace kernpack::emulator {

// What is looked for while a kernel runs. Bounds and alignment always are.
struct Checks {
  bool uninitialised = true;
  bool races = true;
};

struct Launch {
  const Program* program = nullptr;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1};  // its blocks have no memory in common here
  uint32_t dynamic_shared = 0;
  const uint8_t* parameters = nullptr;
  const AddressSpace* memory = nullptr;
  Checks checks;
  double seconds = 60;     // a kernel that runs longer is stopped
  const std::atomic<bool>* interrupted = nullptr;  // set: a kernel that runs is stopped
  uint32_t workers = 1;    // threads of the host that run blocks
  uint64_t seed = 0;       // 0: warps in order; else shuffled
  uint32_t mma_order =
      0;  // of mma's sums: 0 in f64, rounded once; 1 in f32, in order; 2 in f32, groups of four from the back
  Counts* counts = nullptr;  // what the launch did is added to them
  std::function<void(const std::string&)> print;  // what printf writes; empty: stdout
};

struct Statistics {
  uint64_t instructions = 0;         // of warps
  uint64_t thread_instructions = 0;  // of threads that took part
};

// Runs every block; throws Fault.
Statistics Run(const Launch& launch);

struct Block {
  const Launch* launch = nullptr;
  const Program* program = nullptr;
  uint32_t at[3] = {0, 0, 0};
  uint64_t linear = 0;
  std::vector<uint8_t> shared;
  std::vector<uint8_t> shared_written;
  std::vector<uint8_t> local;  // of all threads, one after the other
  std::vector<Warp> warps;
  std::vector<uint8_t> registers;
  RaceShadow races;
  const Region* regions[4] = {};  // that were found last: no region comes or goes while a kernel runs
  uint32_t next_region = 0;
  Counts* counts = nullptr;  // of the blocks that one thread of the host runs
  uint32_t copies_under_way = 0;
  std::vector<uint8_t> under_way;  // of each word of shared memory, while there are such copies
  std::chrono::steady_clock::time_point deadline;
  const std::atomic<bool>* stop = nullptr;

  // Arrivals without waiting (bar.arrive) at each barrier since it last opened, in threads.
  uint32_t arrived[16] = {};
  uint32_t expected[16] = {};

  uint32_t threads() const { return launch->block[0] * launch->block[1] * launch->block[2]; }
};

// Runs a warp until it waits or has ended.
// False: its time is over, and it could go on.
bool RunWarp(Warp* warp);
// Opens the barriers whose threads are all there. False when nothing could go on any more; throws Fault where a barrier cannot
// be met.
bool OpenBarriers(Block* block);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_BLOCK_H_
