#include "exec/mbarrier.h"

#include "exec/access.h"
#include "exec/fault.h"
#include "exec/warp.h"
#include "exec/memory_ops.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kMostArrivals = (1U << 20) - 1;

// A token is the number of the phase over the arrivals that were pending.
uint64_t MakeToken(const MBarrier& barrier) { return barrier.phase << 20 | barrier.pending; }
uint64_t GetPhase(uint64_t token) { return token >> 20; }

class Lane {
 public:
  Lane(Warp* warp, const Instruction& instruction, uint32_t lane)
      : warp_(*warp), instruction_(instruction), lane_(lane), op_(static_cast<MBarrierOp>(instruction.variant)) {}

  void Run(uint64_t place) {
    if (op_ == MBarrierOp::kInit) return Init(place);
    const auto found = warp_.block->mbarriers.find(place);
    if (found == warp_.block->mbarriers.end())
      Stop("uses memory that isn't an mbarrier: no mbarrier.init made one there, or it has been invalidated");
    MBarrier* const barrier = &found->second;
    NeedMade(*barrier);
    switch (op_) {
      case MBarrierOp::kInit:
        return;
      case MBarrierOp::kInvalidate:
        NeedNoCommit(place);
        warp_.block->mbarriers.erase(found);
        return;
      case MBarrierOp::kArrive:
      case MBarrierOp::kDrop:
        // Commits arrive as late as a program can rely on, and this arrival may count on them.
        while (Source(1) > barrier->pending && ArriveForCommit(warp_.block, place, barrier)) Settle(barrier);
        return Arrive(barrier, Source(1));
      case MBarrierOp::kExpect:
        return Expect(barrier);
      case MBarrierOp::kArriveExpecting:
      case MBarrierOp::kDropExpecting:
        Expect(barrier);
        return Arrive(barrier, 1);
      case MBarrierOp::kComplete:
        barrier->transactions -= Source(0);
        HandOver(barrier);
        return Settle(barrier);
      case MBarrierOp::kTest:
      case MBarrierOp::kTestParity:
        // Copies arrive as late as a program can rely on: a thread that waits for the wrong phase goes on without them.
        if (!IsOver(*barrier) && FinishBulks(warp_.block, place, barrier)) Settle(barrier);
        while (!IsOver(*barrier) && ArriveForCommit(warp_.block, place, barrier)) Settle(barrier);
        return Test(*barrier, place);
      case MBarrierOp::kAfterCopies:
        return HandOver(barrier);
      case MBarrierOp::kAfterCopiesCounted:
        return Arrive(barrier, 1);
    }
  }

 private:
  Warp& warp_;
  const Instruction& instruction_;
  const uint32_t lane_;
  const MBarrierOp op_;

  [[noreturn]] void Stop(const std::string& what) const {
    Fail(warp_, instruction_, lane_, Fault::Kind::kIllegalAddress, what);
  }
  uint32_t Source(uint32_t otherwise) const {
    return instruction_.op[2] == kNoOperand
               ? otherwise
               : reinterpret_cast<const uint32_t*>(warp_.registers + instruction_.op[2])[lane_];
  }

  void Init(uint64_t place) {
    const uint32_t count = Source(0);
    if (count == 0 || count > kMostArrivals)
      Stop(Text("expects %u arrivals; there are from 1 to %u", count, kMostArrivals));
    MBarrier made;
    made.expected = made.pending = count;
    made.maker = Thread();
    made.made = warp_.clock;
    made.arriving.resize(warp_.block->races.clocks());
    made.opened = made.arriving;
    if (!warp_.block->mbarriers.emplace(place, std::move(made)).second)
      Stop("makes an mbarrier where there is one: mbarrier.inval has to end that first");
  }

  uint32_t Thread() const { return warp_.index * kLanes + lane_; }
  void NeedMade(const MBarrier& barrier) const {
    const Block& block = *warp_.block;
    if (!block.launch->checks.races || barrier.maker == Thread() ||
        block.races.Before(warp_, barrier.maker, barrier.made)) {
      return;
    }
    const Warp& maker = block.warps[barrier.maker / kLanes];
    Fail(warp_, instruction_, lane_, Fault::Kind::kRace,
         "uses an mbarrier that " + ThreadText(warp_, maker, barrier.maker % kLanes) +
             " has made, with no barrier in between");
  }

  void NeedNoCommit(uint64_t place) const {
    for (const TensorCommit& commit : warp_.block->commits) {
      if (commit.barrier != place) continue;
      const struct Source& source = warp_.block->program->sources[commit.statement];
      Stop(Text("invalidates an mbarrier at which %s has yet to arrive: a thread has to wait for that phase",
                SourceText(source).c_str()));
    }
  }

  void HandOver(MBarrier* barrier) {
    if ((instruction_.flags & kRelaxed) == 0) warp_.block->races.HandOver(warp_, barrier->arriving.data());
  }

  // The hardware counts bytes in as many bits as arrivals.
  void Expect(MBarrier* barrier) const {
    const uint32_t bytes = Source(0);
    barrier->transactions += bytes;
    if (barrier->transactions <= int64_t{kMostArrivals}) return;
    Stop(Text("expects %u bytes, so that the phase waits for %lld; an mbarrier counts up to %u bytes", bytes,
              static_cast<long long>(barrier->transactions), kMostArrivals));
  }

  void Arrive(MBarrier* barrier, uint32_t count) {
    if (count == 0 || count > barrier->pending)
      Stop(Text("arrives %u times; the phase expects %u more arrivals", count, barrier->pending));
    if (instruction_.op[1] != kNoOperand)
      reinterpret_cast<uint64_t*>(warp_.registers + instruction_.op[1])[lane_] = MakeToken(*barrier);
    HandOver(barrier);
    barrier->pending -= count;
    if (op_ == MBarrierOp::kDrop || op_ == MBarrierOp::kDropExpecting) barrier->expected -= count;
    Settle(barrier);
  }

  static void Settle(MBarrier* barrier) {
    if (barrier->pending != 0 || barrier->transactions != 0) return;
    ++barrier->phase;
    barrier->pending = barrier->expected;
    barrier->opened.swap(barrier->arriving);
    std::fill(barrier->arriving.begin(), barrier->arriving.end(), 0U);
  }

  // True if the phase that the thread asks for has ended.
  bool IsOver(const MBarrier& barrier) const {
    if (op_ == MBarrierOp::kTestParity) return (barrier.phase & 1) != (Source(0) & 1);
    const uint64_t token = reinterpret_cast<const uint64_t*>(warp_.registers + instruction_.op[2])[lane_];
    const uint64_t phase = GetPhase(token);
    if (phase > barrier.phase || phase + 1 < barrier.phase)
      Stop(Text("has a token of phase %llu, and phase %llu is under way: it has to be of that or of the one before",
                static_cast<unsigned long long>(phase), static_cast<unsigned long long>(barrier.phase)));
    return phase != barrier.phase;
  }

  void Test(const MBarrier& barrier, uint64_t place) {
    const bool over = IsOver(barrier);
    auto& predicate = *reinterpret_cast<uint32_t*>(warp_.registers + instruction_.op[1]);
    predicate = over ? predicate | 1U << lane_ : predicate & ~(1U << lane_);
    if (!over) {
      warp_.spins = true;
      const bool by_parity = op_ == MBarrierOp::kTestParity;
      const uint32_t asked = by_parity ? Source(0) & 1 : static_cast<uint32_t>(barrier.phase);
      warp_.wait = {&instruction_, place, lane_, asked, by_parity, true};
    } else if ((instruction_.flags & kRelaxed) == 0) {
      warp_.block->races.Take(warp_, barrier.opened.data());
    }
  }
};

}  // namespace

void RunMBarrier(Warp& warp, const Instruction& i, uint32_t mask) {
  const auto op = static_cast<MBarrierOp>(i.variant);
  if (op == MBarrierOp::kAfterCopies || op == MBarrierOp::kAfterCopiesCounted) {
    Instruction all = i;
    all.displacement = -1;
    RunWaitForCopies(warp, all, mask);
  }
  // Code that invalidates an mbarrier may have counted its users with atomics, as cuda::pipeline does.
  const bool alters = op == MBarrierOp::kInit;
  uint64_t addresses[kLanes];
  Addresses(warp, i, addresses);
  Access access;
  access.kind = AccessKind::kWrite;
  access.bytes = 8;
  while (mask != 0) {
    Locate(warp, i, addresses, &mask, &access);
    if (access.space != Space::kShared)
      Fail(warp, i, First(access.mask), Fault::Kind::kIllegalAddress,
           "has an address outside of shared memory, in which every mbarrier lies");
    for (uint32_t left = access.mask; left != 0; left &= left - 1) {
      const auto lane = First(left);
      if (RacesChecked(warp, access.space)) {
        CheckRaces(warp, i, alters ? AccessKind::kWrite : AccessKind::kAtomic, access.address[lane], 8, lane, false);
      }
      Lane(&warp, i, lane).Run(access.address[lane]);
    }
    Wrote(warp, i, access);
  }
  if (!alters) ++warp.clock;
  if (op != MBarrierOp::kTest && op != MBarrierOp::kTestParity) ++warp.effects;
}

void RunInitFence(Warp& warp, const Instruction& /*i*/, uint32_t /*mask*/) { warp.init_fenced = warp.clock++; }

void RunPendingCount(Warp& warp, const Instruction& i, uint32_t mask) {
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = First(left);
    const uint64_t token = reinterpret_cast<const uint64_t*>(warp.registers + i.op[2])[lane];
    reinterpret_cast<uint32_t*>(warp.registers + i.op[1])[lane] = static_cast<uint32_t>(token) & kMostArrivals;
  }
}

}  // namespace kernpack::emulator
