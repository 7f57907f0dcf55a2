#include "exec/progress.h"

#include <algorithm>
#include <bit>

#include "exec/fault.h"

namespace kernpack::emulator {
namespace {

// Loops that give up after some attempts may still end: they get this many turns of all warps.
constexpr uint32_t kPatience = 4096;
constexpr size_t kMostPlaces = 8;  // that a text names

bool IsParked(const Warp& warp) {
  return std::none_of(warp.groups, warp.groups + warp.group_count,
                      [](const Group& group) { return group.state == Group::State::kReady; });
}

// Of a warp that waits: in a loop, or at a barrier.
const Instruction& WaitsAt(const Warp& warp) {
  return warp.wait.instruction != nullptr ? *warp.wait.instruction : warp.block->program->code[warp.groups[0].pc];
}

std::string OfMBarrier(const Block& block, const Warp& warp) {
  const auto found = block.mbarriers.find(warp.wait.place);
  if (found == block.mbarriers.end()) return "";
  const MBarrier& barrier = found->second;
  const uint64_t phase = barrier.phase;
  std::string out = Text(
      "the mbarrier at 0x%llx of shared memory is in phase %llu, of parity %u, which still needs %u "
      "arrivals",
      static_cast<unsigned long long>(warp.wait.place - warp.shared_base), static_cast<unsigned long long>(phase),
      static_cast<unsigned>(phase & 1), barrier.pending);
  if (barrier.transactions > 0) out += Text(" and %lld bytes of copies", static_cast<long long>(barrier.transactions));
  if (barrier.transactions < 0) {
    out += Text("; %lld more bytes have been copied than mbarrier.expect_tx said",
                -static_cast<long long>(barrier.transactions));
  }
  return out;
}

[[noreturn]] void Stuck(const Block& block) {
  const Warp* stuck = nullptr;
  for (const Warp& warp : block.warps) {
    if (warp.live() != 0 && warp.wait.instruction != nullptr && stuck == nullptr) stuck = &warp;
  }
  const bool products = stuck->wait.place == WaitPlace::kProducts;
  const std::string what = products ? "waits for a product that other warps of the warpgroup have yet to issue"
                                    : Text("waits for a phase that never ends (it asked for %s %u): ",
                                           stuck->wait.by_parity ? "parity" : "the phase of token", stuck->wait.asked) +
                                          OfMBarrier(block, *stuck);
  Fail(*stuck, *stuck->wait.instruction, stuck->wait.lane, Fault::Kind::kDeadlock,
       what + ". Nothing can change that: " + WhoWaits(block));
}

}  // namespace

std::string WhoWaits(const Block& block) {
  struct Place {
    uint32_t statement, rank;
    std::vector<uint32_t> warps;
  };
  std::vector<Place> places;
  for (const Warp& warp : block.warps) {
    if (warp.live() == 0 || warp.group_count == 0) continue;
    const uint32_t statement = WaitsAt(warp).statement;
    auto found = std::find_if(places.begin(), places.end(), [&](const Place& place) {
      return place.statement == statement && place.rank == warp.rank;
    });
    if (found == places.end()) found = places.insert(places.end(), {statement, warp.rank, {}});
    found->warps.push_back(warp.in_block);
  }
  std::string out;
  for (size_t p = 0; p < std::min(places.size(), kMostPlaces); ++p) {
    const Place& place = places[p];
    const Source& source = block.program->sources[place.statement];
    out += p == 0 ? "" : "; ";
    for (size_t w = 0; w < place.warps.size();) {
      size_t end = w + 1;
      while (end < place.warps.size() && place.warps[end] == place.warps[end - 1] + 1) ++end;
      out += (w == 0 ? (place.warps.size() > 1 ? "warps " : "warp ") : ", ") + std::to_string(place.warps[w]);
      if (end - w > 1) out += " to " + std::to_string(place.warps[end - 1]);
      w = end;
    }
    if (block.blocks > 1) out += " of " + BlockText(block.GetWarps(place.rank)[0]);
    out += (place.warps.size() > 1 ? " wait at " : " waits at ") + SourceText(source);
  }
  return places.size() > kMostPlaces ? out + "; others elsewhere" : out;
}

void Progress::Check(Block* block, bool opened) {
  bool all_wait = true, in_loop = false;
  uint64_t happened = 0;
  for (Warp& warp : block->warps) {
    happened += warp.effects + static_cast<uint64_t>(std::popcount(warp.exited));
    if (warp.live() == 0) continue;
    if (IsParked(warp)) {
      warp.wait.instruction = nullptr;
    } else {
      all_wait = all_wait && warp.wait.failed;
      in_loop = in_loop || warp.wait.failed;
    }
    warp.wait.failed = false;
  }
  const bool still = !opened && all_wait && in_loop && happened == last_;
  last_ = happened;
  still_ = still ? still_ + 1 : 0;
  if (still_ > kPatience) Stuck(*block);
}

}  // namespace kernpack::emulator
