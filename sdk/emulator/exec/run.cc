// A launch: its blocks one after the other, on several threads of the host when there is much to do.
#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include "exec/block.h"
#include "exec/clusters.h"
#include "exec/fault.h"
#include "exec/global_races.h"
#include "exec/progress.h"
#include "exec/warp.h"

namespace kernpack::emulator {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kAlone = std::chrono::milliseconds(2);  // a launch that takes less gets one thread of the host
constexpr uint8_t kPoison = 0xa5;

uint32_t* Slot(Warp& warp, uint32_t slot) { return reinterpret_cast<uint32_t*>(warp.registers + slot); }

void Fill(Warp& warp, const Constant& constant) {
  if (constant.lane_bytes == 0) {
    *Slot(warp, constant.slot) = static_cast<uint32_t>(constant.bits);
  } else if (constant.lane_bytes == 8) {
    std::fill_n(reinterpret_cast<uint64_t*>(warp.registers + constant.slot), kLanes, constant.bits);
  } else {
    std::fill_n(Slot(warp, constant.slot), kLanes, static_cast<uint32_t>(constant.bits));
  }
}

uint32_t GetValue(const Block& block, const Warp& warp, Special special, uint32_t lane) {
  const Launch& launch = *block.launch;
  const uint32_t thread = warp.in_block * kLanes + lane;
  uint32_t at[3];
  block.At(warp.rank, at);
  switch (special) {
    case Special::kTidX:
      return thread % launch.block[0];
    case Special::kTidY:
      return thread / launch.block[0] % launch.block[1];
    case Special::kTidZ:
      return thread / launch.block[0] / launch.block[1];
    case Special::kNtidX:
      return launch.block[0];
    case Special::kNtidY:
      return launch.block[1];
    case Special::kNtidZ:
      return launch.block[2];
    case Special::kCtaidX:
      return at[0];
    case Special::kCtaidY:
      return at[1];
    case Special::kCtaidZ:
      return at[2];
    case Special::kNctaidX:
      return launch.grid[0];
    case Special::kNctaidY:
      return launch.grid[1];
    case Special::kNctaidZ:
      return launch.grid[2];
    case Special::kLaneId:
      return lane;
    case Special::kWarpId:
      return warp.in_block;
    case Special::kNwarpId:
      return block.block_warps;
    case Special::kSmId:
      return 0;
    case Special::kNsmId:
      return 1;
    case Special::kGridId:
      return 0;
    case Special::kLanemaskEq:
      return 1U << lane;
    case Special::kLanemaskLe:
      return ~0U >> (31 - lane);
    case Special::kLanemaskLt:
      return (1U << lane) - 1;
    case Special::kLanemaskGe:
      return ~0U << lane;
    case Special::kLanemaskGt:
      return ~0U << lane << 1;
    case Special::kDynamicShared:
      return launch.dynamic_shared;
    case Special::kTotalShared:
      return static_cast<uint32_t>(block.shared_bytes);
    case Special::kClusterNctaidX:
      return launch.cluster[0];
    case Special::kClusterNctaidY:
      return launch.cluster[1];
    case Special::kClusterNctaidZ:
      return launch.cluster[2];
    case Special::kClusterNctarank:
      return launch.cluster_blocks();
    case Special::kClusterCtaidX:
      return at[0] % launch.cluster[0];
    case Special::kClusterCtaidY:
      return at[1] % launch.cluster[1];
    case Special::kClusterCtaidZ:
      return at[2] % launch.cluster[2];
    case Special::kClusterCtarank:
      return ClusterRank(warp);
    case Special::kClusterIdX:
      return at[0] / launch.cluster[0];
    case Special::kClusterIdY:
      return at[1] / launch.cluster[1];
    case Special::kClusterIdZ:
      return at[2] / launch.cluster[2];
    case Special::kNclusterIdX:
      return launch.grid[0] / launch.cluster[0];
    case Special::kNclusterIdY:
      return launch.grid[1] / launch.cluster[1];
    case Special::kNclusterIdZ:
      return launch.grid[2] / launch.cluster[2];
    case Special::kWorkspaceHigh:
      return static_cast<uint32_t>(launch.workspace >> 32);
    case Special::kWorkspaceLow:
      return static_cast<uint32_t>(launch.workspace);
    case Special::kClock:
    case Special::kClock64:
    case Special::kGlobalTimer:
      return 0;
  }
  return 0;
}

// True if the special register differs between groups of blocks that run together.
bool OfBlock(Special special) {
  return (special >= Special::kCtaidX && special <= Special::kCtaidZ) ||
         (special >= Special::kClusterIdX && special <= Special::kClusterIdZ);
}

// One thread of the host: a block's storage, used again for each block that it runs.
class Worker {
 public:
  Worker(const Launch& launch, Clock::time_point deadline, const std::atomic<bool>* stop, ReleaseGraph* graph)
      : launch_(launch) {
    const Program& program = *launch.program;
    block_.launch = &launch;
    block_.program = &program;
    block_.deadline = deadline;
    block_.stop = stop;
    if (launch.counts != nullptr) counts_ = std::make_unique<Counts>(program);
    block_.counts = counts_.get();
    const uint32_t threads = block_.threads();
    const uint32_t warps = (threads + kLanes - 1) / kLanes;  // of a block
    block_.blocks = RunTogether(launch);
    block_.block_warps = warps;
    const uint32_t all = warps * block_.blocks;
    block_.shared_bytes = program.shared_bytes + launch.dynamic_shared;
    const uint64_t stride = block_.blocks == 1 ? block_.shared_bytes : (block_.shared_bytes + 1023) / 1024 * 1024;
    block_.shared.resize(stride * block_.blocks);
    block_.shared_written.resize(block_.shared.size() / 8 + 1);
    block_.local.resize(uint64_t{program.local_bytes} * all * kLanes);
    block_.registers.resize(uint64_t{program.register_bytes} * all + 64);
    block_.arrivals.resize(size_t{kBarriers} * block_.blocks);
    block_.warps.resize(all);
    if (launch.checks.global_races) {
      const uint32_t units = block_.blocks / launch.cluster_blocks();
      global_ = std::make_unique<GlobalRaces>(graph, units, all / units);
      block_.global = global_.get();
    }
    auto* base = block_.registers.data();
    base += (64 - reinterpret_cast<uintptr_t>(base) % 64) % 64;
    for (uint32_t w = 0; w < all; ++w) {
      Warp& warp = block_.warps[w];
      warp.block = &block_;
      warp.index = w;
      warp.rank = w / warps;
      warp.cluster_first = launch.cooperative ? warp.rank * warps : 0;
      warp.in_block = w % warps;
      warp.shared_base = stride * warp.rank;
      warp.registers = base + size_t{w} * program.register_bytes;
      const uint32_t lanes = std::min(kLanes, threads - warp.in_block * kLanes);
      warp.threads = lanes == kLanes ? ~0U : (1U << lanes) - 1;
      for (const Constant& constant : program.constants) Fill(warp, constant);
    }
  }

  void RunBlock(uint64_t linear) {
    Start(linear);
    if (++rounds_ % 64 == 0) CheckTime();  // a grid of many short blocks
    std::vector<uint32_t> order(block_.warps.size());
    std::iota(order.begin(), order.end(), 0U);
    for (;;) {
      if (launch_.seed != 0) std::shuffle(order.begin(), order.end(), random_);
      bool waiting = true;
      for (const uint32_t w : order) {
        if (block_.warps[w].live() != 0 && !RunWarp(&block_.warps[w])) waiting = false;
      }
      if (!waiting) CheckTime();
      // Also while a warp spins: it may wait for a warp that has come to a barrier with others.
      const bool opened = OpenBarriers(&block_);
      if (!waiting) {
        progress_.Check(&block_, opened);
        continue;
      }
      if (!opened) {
        NeedEnded(block_);
        NeedDeallocated(block_);
        NeedSameRegisters(block_);
        return NeedNoBulks(block_);
      }
      if (++rounds_ % 64 == 0) CheckTime();
    }
  }
  // Adds what was counted to the launch's.
  Statistics Count() const {
    if (counts_ != nullptr) launch_.counts->Add(*counts_);
    Statistics all;
    for (const Warp& warp : block_.warps) {
      all.instructions += warp.instructions;
      all.thread_instructions += warp.lanes_run;
    }
    return all;
  }

 private:
  const Launch& launch_;
  Block block_;
  std::unique_ptr<Counts> counts_;
  std::unique_ptr<GlobalRaces> global_;
  std::mt19937_64 random_;
  uint64_t rounds_ = 0;
  Progress progress_;
  bool first_ = true;

  void Start(uint64_t linear) {
    block_.linear = linear;
    progress_.Reset();
    // By block, so that it doesn't matter which worker takes it.
    if (launch_.seed != 0) random_.seed(launch_.seed + linear * 0x9e3779b97f4a7c15U);
    std::fill(block_.shared.begin(), block_.shared.end(), kPoison);
    std::fill(block_.shared_written.begin(), block_.shared_written.end(), uint8_t{0});
    std::fill(block_.local.begin(), block_.local.end(), kPoison);
    block_.cluster_arrivals = 0;
    block_.mbarriers.clear();
    block_.bulks.clear();
    block_.reads.Reset(block_.shared.size());
    block_.changed_maps.clear();
    block_.register_changes.clear();
    if (block_.program->has_groups) {
      block_.warp_groups.assign(size_t{(block_.block_warps + kGroupWarps - 1) / kGroupWarps} * block_.blocks, {});
      for (Warp& warp : block_.warps) warp.group_registers.Reset(block_.program->register_bytes);
    }
    block_.commits.clear();
    if (block_.program->has_tensor_memory) {
      block_.tensor_memories.resize(block_.blocks);
      for (TensorMemory& memory : block_.tensor_memories) memory.Reset(block_.block_warps);
    }
    std::fill(block_.arrivals.begin(), block_.arrivals.end(), Block::Arrivals());
    if (block_.copies_under_way != 0) std::fill(block_.under_way.begin(), block_.under_way.end(), uint8_t{0});
    block_.copies_under_way = 0;
    if (global_ != nullptr) global_->Reset(static_cast<uint32_t>(linear));
    if (launch_.checks.races || global_ != nullptr) {
      block_.races.Reset(block_.shared.size(), static_cast<uint32_t>(block_.warps.size()),
                         static_cast<uint32_t>(block_.arrivals.size()), block_.blocks / launch_.cluster_blocks(),
                         block_.program->has_tensor_memory ? launch_.cluster_blocks() : 0);
    }
    for (Warp& warp : block_.warps) {
      warp.exited = warp.carry = warp.cluster_arrived = warp.cluster_passed = 0;
      warp.taint.clear();
      warp.copies.clear();
      warp.bulk_reads.clear();
      warp.bulk_writes.clear();
      std::fill(std::begin(warp.copy_groups), std::end(warp.copy_groups), 0U);
      std::fill(std::begin(warp.bulk_groups), std::end(warp.bulk_groups), 0U);
      warp.clock = 1;
      warp.wait = WaitPlace();
      warp.init_fenced = 0;
      warp.group_count = 1;
      warp.groups[0] = Group();
      warp.groups[0].mask = warp.threads;
      for (const SpecialSlot& special : block_.program->specials) {
        if (!first_ && !OfBlock(special.special)) continue;
        for (uint32_t l = 0; l < kLanes; ++l) Slot(warp, special.slot)[l] = GetValue(block_, warp, special.special, l);
      }
    }
    first_ = false;
  }

  void CheckTime() const {
    if (block_.stop->load(std::memory_order_relaxed)) throw Fault(Fault::Kind::kTimeout, "another block failed");
    const bool interrupted = launch_.interrupted != nullptr && launch_.interrupted->load(std::memory_order_relaxed);
    if (!interrupted && Clock::now() < block_.deadline) return;
    for (const Warp& warp : block_.warps) {
      if (warp.live() == 0 || warp.group_count == 0) continue;
      const Instruction& at = block_.program->code[warp.groups[0].pc];
      const auto lane = First(warp.groups[0].mask);
      if (interrupted) Fail(warp, at, lane, Fault::Kind::kInterrupted, "was being run when the kernel was interrupted");
      Fail(warp, at, lane, Fault::Kind::kTimeout,
           Text("is still being run after %g seconds, the time limit (KERNPACK_EMULATOR_SECONDS)", launch_.seconds));
    }
  }
};

struct Shared {
  std::atomic<uint64_t> next{0};
  uint64_t blocks = 0;  // or groups of those that run together
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::exception_ptr failure;
  Statistics statistics;

  void Failed(std::exception_ptr what) {
    const std::lock_guard lock(mutex);
    if (failure == nullptr) failure = std::move(what);
    stop = true;
  }
};

// Takes blocks until there are none, or until `deadline`.
void Take(Worker* worker, Shared* shared, const Clock::time_point* until) {
  try {
    while (!shared->stop.load(std::memory_order_relaxed)) {
      const uint64_t block = shared->next.fetch_add(1, std::memory_order_relaxed);
      if (block >= shared->blocks) break;
      worker->RunBlock(block);
      if (until != nullptr && Clock::now() > *until) return;
    }
  } catch (...) {
    shared->Failed(std::current_exception());
  }
}

}  // namespace

Statistics Run(const Launch& launch) {
  Shared shared;
  shared.blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2] / RunTogether(launch);
  const auto begin = Clock::now();
  const auto deadline =
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(launch.seconds));
  ReleaseGraph graph;
  Worker worker(launch, deadline, &shared.stop, &graph);
  const auto alone = begin + kAlone;
  Take(&worker, &shared, &alone);
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Worker>> others;
  for (uint32_t i = 1; i < launch.workers && shared.next + i < shared.blocks && !shared.stop; ++i) {
    others.push_back(std::make_unique<Worker>(launch, deadline, &shared.stop, &graph));
    threads.emplace_back(Take, others.back().get(), &shared, nullptr);
  }
  Take(&worker, &shared, nullptr);
  for (std::thread& thread : threads) thread.join();
  if (shared.failure != nullptr) std::rethrow_exception(shared.failure);
  Statistics all = worker.Count();
  for (const auto& other : others) {
    const Statistics more = other->Count();
    all.instructions += more.instructions;
    all.thread_instructions += more.thread_instructions;
  }
  return all;
}

}  // namespace kernpack::emulator
