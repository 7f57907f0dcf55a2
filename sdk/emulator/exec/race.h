// Races on shared memory: two accesses of a word by different threads, one of them a write, with nothing that orders them.
//
// Order comes from barriers and, inside a warp, from bar.warp.sync. Each warp has a clock, which these advance; a barrier also
// hands the clocks of its warps to each other. What happened at a clock that a warp has seen pass is before what it does now.
// A warp that only arrives at a barrier hands over its clock and takes no other.
//
// Copies in bulk and wgmma read memory through the async proxy, which sees a write only after fence.proxy.async. So there is a second
// clock of each warp, which the fence sets to the first, and which is handed over in the same way. A third one tells until when writes are
// fenced for other blocks (fence.acq_rel.gpu): a strong write to global memory hands over no more than that.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_RACE_H_
#define KERNPACK_SDK_EMULATOR_EXEC_RACE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/warp.h"

namespace kernpack::emulator {

struct Instruction;

class RaceShadow {
 public:
  enum class Access : uint8_t { kRead, kWrite, kAtomic };
  struct Conflict {
    bool found = false;
    uint32_t other = 0;  // thread, of all that run together; a multiple of kLanes where `of_warp`
    bool of_warp = false;  // one of several threads of the warp
    uint32_t other_statement = 0;
    bool other_wrote = false;
  };

  // Forgets what was. The sizes are of all that runs together. `cores` are those of a cluster that have clocks as warps have: the tensor
  // core of each block, whose clock counts its tcgen05.commit.
  void Reset(uint64_t shared_bytes, uint32_t warps, uint32_t barriers, uint32_t clusters, uint32_t cores = 0);
  // True if the warp has seen that the core of a block of its cluster has come to `clock`; and the place of that clock among clocks().
  bool HasSeenCore(const Warp& warp, uint32_t core, uint32_t clock) const {
    return seen_.empty() || GetSeen(warp)[GetCorePlace(core)] >= clock;
  }
  uint32_t GetCorePlace(uint32_t core) const { return together_ + core; }
  // The warp arrives at a barrier and doesn't wait. Called before its clock advances.
  void Arrive(const Warp& warp, uint32_t barrier);
  // True if an access of a thread at a clock of its warp is ordered before the current access of this warp.
  bool Before(const Warp& warp, uint32_t thread, uint32_t clock) const;
  // How many clocks `to` and `from` have: three for each warp and core of a cluster, what has been seen, what is fenced for the async
  // proxy, and what is fenced for other blocks.
  uint32_t clocks() const { return wide_; }
  uint32_t together() const { return together_; }  // warps of a cluster
  // A fence of wider scope than the block's: what the warp has seen may be handed over to other blocks.
  void FenceGlobal(const Warp& warp);
  // The clocks of the warps of the cluster that the warp has seen pass, and those until which their writes are fenced for other blocks.
  const uint32_t* GetSeen(const Warp& warp) const { return seen_.data() + size_t{warp.index} * wide_; }
  const uint32_t* GetGlobalFenced(const Warp& warp) const { return GetSeen(warp) + size_t{2} * clocked_; }
  // fence.proxy.async: the async proxy sees the writes that the warp has seen.
  void FenceProxy(const Warp& warp);
  // The async proxy has written these bytes, which needs no fence to be read by it. `swizzle`: of the tensor map, as it numbers them.
  void MarkAsync(uint64_t offset, uint64_t bytes, uint8_t swizzle);
  // With which swizzle a copy put the word there that nothing has written since, and which; 0: none, or nobody knows.
  uint8_t GetSwizzle(uint64_t offset, uint32_t* statement);
  // The first write among these bytes that the async proxy may not see when the warp lets it read them.
  Conflict Unfenced(const Warp& warp, uint64_t offset, uint64_t bytes);
  // As Arrive, of what the warp itself did until `clock` alone.
  void ArriveUntil(const Warp& warp, uint32_t barrier, uint32_t clock);
  // Adds what the warp has seen pass, itself included, to the clocks at `to`.
  void HandOver(const Warp& warp, uint32_t* to) const;
  // Lets the warp see what `from` has.
  void Take(const Warp& warp, const uint32_t* from);
  // The barrier of a cluster: its number for Arrive, that it has opened, and that a warp has waited for it.
  uint32_t ClusterBarrier(uint32_t cluster) const { return barriers_ + 2 * cluster; }
  void OpenCluster(uint32_t cluster);
  void WaitForCluster(const Warp& warp, uint32_t cluster);
  // These warps met at a barrier. Called before their clocks advance.
  void Join(const std::vector<Warp>& warps, const std::vector<uint32_t>& met, uint32_t barrier);

  // One lane's access. `same`: a write that leaves the bytes as they are. It may repeat another: whichever comes last, memory holds that.
  Conflict Check(const Warp& warp, uint32_t lane, const Instruction& instruction, uint64_t offset, uint32_t bytes,
                 Access access, bool same);

 private:
  static constexpr uint32_t kNobody = ~0U;
  static constexpr uint32_t kMany = ~0U - 1;
  // Of a word of four bytes: who wrote and read it last, when, and which of its bytes.
  struct Word {
    uint32_t writer = kNobody;
    uint32_t write_clock = 0;
    uint32_t reader = kNobody;  // kMany: the last readers of each warp are in `readers_`
    uint32_t read_clock = 0;
    uint32_t write_statement = 0;
    uint32_t read_statement = 0;
    uint8_t write_bytes = 0;
    uint8_t read_bytes = 0;
    bool atomic : 1 = false;
    bool async : 1 = false;  // written by the async proxy
    uint8_t swizzle : 2 = 0;  // of that write
    uint32_t block = 0;  // of which this is; a word of an earlier one is as good as new
  };
  static_assert(sizeof(Word) == 32);  // half a line of the cache
  // Who of a warp read a word last, and when; 0: nobody.
  struct Readers {
    uint32_t clock;
    uint32_t lane;  // kLanes: several
  };
  std::vector<Word> words_;
  // [word][warp of the cluster], of words that several threads have read; made when there is one. Each word's are set before they're
  // read, so that the system gives memory for no others.
  std::unique_ptr<Readers[]> readers_;
  std::vector<uint32_t>
      seen_;  // [warp][other of its cluster]: the clock of `other` that it has seen pass; then, in the same order,
  // the clock until which the writes of `other` are fenced for the async proxy, and for other blocks
  std::vector<uint32_t>
      arrived_;  // [barrier][warp of the cluster]: the clocks that arrivals have handed over since it last opened; at the end
  // for each cluster that, and the clocks with which it last opened
  uint32_t barriers_ = 0;
  uint32_t wide_ = 0;  // three times `clocked_`
  uint32_t clocked_ = 0;  // warps and cores of a cluster
  uint32_t together_ = 0;  // warps of a cluster: others have no memory in common with them
  uint32_t block_ = 0;  // how many there were

  Word* At(uint64_t index);
  // Writes that the warp has seen count as fenced, in the clocks that begin at `part`.
  void Fence(const Warp& warp, uint32_t part);
  void Read(const Warp& warp, uint32_t thread, uint32_t statement, Word* word, uint8_t bytes);
  // A reader of the word that nothing puts before what the thread does now; kNobody when there is none.
  uint32_t UnorderedReader(const Warp& warp, uint32_t thread, const Word& word, bool* of_warp) const;
  void One(const Warp& warp, uint32_t thread, uint32_t statement, Word* word, uint8_t bytes, Access access, bool same,
           Conflict* out);
  // A load of what an atom.cas expects: atomics may come before and after it.
  Conflict CheckExpected(const Warp& warp, uint32_t thread, uint64_t offset, uint32_t bytes);
  // Of `count` whole words.
  void ReadWords(const Warp& warp, uint32_t thread, uint32_t statement, Word* words, uint64_t count, Conflict* out);
  void WriteWords(const Warp& warp, uint32_t thread, uint32_t statement, Word* words, uint64_t count, bool same,
                  Conflict* out);
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_RACE_H_
