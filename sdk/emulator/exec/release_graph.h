// The order that fences and atomics on global memory make between the blocks of a launch.
//
// A strong write (an atomic, a volatile or relaxed store) hands over what its warp has fenced. Whoever reads that word by a strong read
// has it from then on, and hands it over in turn. A read needs no fence: code that counts finished blocks leaves it out, and works.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_RELEASE_GRAPH_H_
#define KERNPACK_SDK_EMULATOR_EXEC_RELEASE_GRAPH_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kernpack::emulator {

// Of a launch. Blocks on several threads of the host use it.
class ReleaseGraph {
 public:
  static constexpr uint32_t kNone = ~0U;
  struct Node {
    uint32_t unit = 0;
    std::vector<uint32_t> clocks;  // until which the writes of each of its warps are handed over
    std::vector<uint32_t> taken;  // cells
  };
  // The writes to one word: the last, and those before it.
  struct Cell {
    uint32_t node = kNone;
    uint32_t before = kNone;
  };

  uint32_t Add(Node node);
  void Write(uint64_t address, uint32_t node);
  // The word's last cell; kNone: nothing was handed over there.
  uint32_t Find(uint64_t address) const;

 private:
  friend class UnitOrder;
  mutable std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::deque<Node> nodes_;
  std::deque<Cell> cells_;
  std::unordered_map<uint64_t, uint32_t> words_;
};

// The writes that a block, or a cluster, has been handed over.
class UnitOrder {
 public:
  UnitOrder(ReleaseGraph* graph, uint32_t warps) : graph_(graph), warps_(warps) {}
  // Forgets what was; the unit has that number.
  void Reset(uint32_t unit);
  // A strong write of the warp, before it happens. `fenced`: the clocks of the unit's warps that are handed over.
  void Release(uint32_t warp, uint64_t address, const uint32_t* fenced);
  // A strong read of the warp, after it has happened.
  void Acquire(uint32_t warp, uint64_t address, uint32_t clock);
  // True if what a warp of another unit did at that clock was handed over to the warp, which has seen the `seen` clocks of its unit.
  bool Knows(uint32_t warp, const uint32_t* seen, uint32_t unit, uint32_t other, uint32_t clock);
  // True if the warp knows that its unit has read, at that address, what the other unit released there.
  bool HasAcquired(uint32_t warp, const uint32_t* seen, uint64_t address, uint32_t unit) const;

 private:
  struct Acquired {
    uint64_t address;
    uint32_t cell, warp, clock;
  };
  struct OfWarp {
    size_t looked_at = 0;  // of `acquired_`
    std::vector<uint32_t> pending;  // of these, what the warp can't know of yet
    std::unordered_set<uint32_t> visited;  // nodes
    std::unordered_set<uint32_t> cells;
    std::unordered_map<uint32_t, std::vector<uint32_t>> nodes;  // by unit
    uint32_t last = ReleaseGraph::kNone;  // the node that it wrote last
  };
  ReleaseGraph* const graph_;
  uint32_t unit_ = 0;
  std::vector<Acquired> acquired_;
  std::vector<OfWarp> warps_;

  void Follow(OfWarp* warp, uint32_t cell) const;
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_RELEASE_GRAPH_H_
