#include "exec/global_races.h"

#include <algorithm>
#include <atomic>
#include <bit>

#include "exec/clusters.h"
#include "exec/fault.h"
#include "exec/memory_ops.h"
#include "program/program.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kSectorUnit = SectorShadow::kBytes;

// Blocks on several threads of the host share sectors: a lock for each of a number of pages.
class PageLock {
 public:
  PageLock(const Warp& warp, uint64_t address) {
    if (warp.block->launch->workers <= 1) return;
    flag_ = &flags_[(address >> 12) % kFlags];
    while (flag_->test_and_set(std::memory_order_acquire)) {
    }
  }
  ~PageLock() {
    if (flag_ != nullptr) flag_->clear(std::memory_order_release);
  }
  PageLock(const PageLock&) = delete;
  PageLock& operator=(const PageLock&) = delete;

 private:
  static constexpr size_t kFlags = 4096;
  static std::atomic_flag flags_[kFlags];
  std::atomic_flag* flag_ = nullptr;
};
std::atomic_flag PageLock::flags_[PageLock::kFlags];

uint32_t Bits(uint32_t first, uint32_t count) { return count >= kSectorUnit ? ~0U : ((1U << count) - 1) << first; }

const char* Verb(AccessKind kind) {
  return kind == AccessKind::kRead ? "reads" : kind == AccessKind::kWrite ? "writes" : "updates";
}

// "warp 0 of block (1, 0, 0)"
std::string WarpText(const Warp& warp, const GlobalAccess& access) {
  const Block& block = *warp.block;
  uint32_t at[3];
  block.At(access.unit, access.warp / block.block_warps, at);
  return Text("warp %u of block (%u, %u, %u)", access.warp % block.block_warps, at[0], at[1], at[2]);
}

const char* Did(const GlobalAccess& access) {
  const auto kind = static_cast<AccessKind>(access.kind);
  return kind == AccessKind::kRead ? " read" : kind == AccessKind::kWrite ? " wrote" : " updated";
}

constexpr const char* kNeedsOrder = ": an event or a synchronisation has to come between the two";

[[noreturn]] void Raced(const Warp& warp, const Instruction& i, const GlobalAccess& now, const GlobalAccess& before,
                        uint64_t sector, uint32_t lane) {
  const Launch& launch = *warp.block->launch;
  const uint32_t both = now.bytes & before.bytes;
  const auto first = static_cast<uint32_t>(std::countr_zero(both));
  std::string text = Text("%s the byte at 0x%llx of global memory, which ", Verb(static_cast<AccessKind>(now.kind)),
                          static_cast<unsigned long long>(sector + first));
  if (before.launch != launch.number) {
    for (const EarlierLaunch& other : launch.unordered) {
      if (other.number != before.launch) continue;
      text += LaunchText(other, before) + kNeedsOrder;
    }
    Fail(warp, i, lane, Fault::Kind::kRace, text);
  }
  text += WarpText(warp, before) + Did(before) + " at " + SourceText(warp.block->program->sources[before.statement]);
  if (before.async != 0) {
    text += ", a copy that its thread hasn't waited for (cp.async.bulk.wait_group without .read)";
  } else if (before.unit == now.unit) {
    text += " with no barrier in between";
  } else if (now.strength == Strength::kBlock || before.strength == Strength::kBlock) {
    text += ": the scope .cta is that of one block; expected .gpu or .sys";
  } else {
    text += " with nothing that orders the blocks (a fence and an atomic, or a barrier of the whole grid)";
  }
  Fail(warp, i, lane, Fault::Kind::kRace, text);
}

// The access of `bytes` bytes at an address, which lie in one region.
class Walk {
 public:
  Walk(Warp* warp, const Instruction& i, AccessKind kind)
      : warp_(*warp), instruction_(i), races_(*warp->block->global), now_(races_.Describe(*warp, i, kind)) {}

  void SetAsync() { now_.async = 1; }
  // The bytes that are written from an address on, and those that are there.
  void SetFresh(uint64_t address, const uint8_t* fresh, const uint8_t* there) {
    begin_ = address;
    same_.fresh = fresh;
    same_.there = there;
  }

  void Range(uint64_t address, uint64_t bytes, uint32_t lane, bool same) {
    for (uint64_t at = address; at < address + bytes;) {
      const uint32_t offset = at % kSectorUnit;
      const auto count = static_cast<uint32_t>(std::min<uint64_t>(kSectorUnit - offset, address + bytes - at));
      Add(at - offset, Bits(offset, count), lane, same);
      at += count;
    }
  }
  // Bytes of a sector. Those of one sector that follow each other are looked at together.
  void Add(uint64_t sector, uint32_t bytes, uint32_t lane, bool same) {
    if (sector != sector_) {
      Flush();
      sector_ = sector;
      lane_ = lane;
    }
    now_.bytes |= bytes;
    if (same) same_.bytes |= bytes;
  }
  void Flush() {
    if (now_.bytes == 0) return;
    SectorShadow* const at = Find();
    if (at != nullptr) {
      const PageLock lock(warp_, sector_);
      same_.begin = static_cast<int64_t>(sector_ - begin_);
      const GlobalAccess* const before = races_.Check(warp_, now_, same_, sector_, at);
      if (before != nullptr) Raced(warp_, instruction_, now_, *before, sector_, lane_);
    }
    now_.bytes = same_.bytes = 0;
  }

 private:
  Warp& warp_;
  const Instruction& instruction_;
  GlobalRaces& races_;
  GlobalAccess now_;
  GlobalRaces::Same same_;
  uint64_t sector_ = ~uint64_t{0}, begin_ = 0;
  uint32_t lane_ = 0;
  const Region* region_ = nullptr;

  SectorShadow* Find() {
    const uint64_t place = sector_ + static_cast<uint32_t>(std::countr_zero(now_.bytes));
    if (region_ == nullptr || place - region_->begin >= region_->size) region_ = FindRegion(*warp_.block, place);
    if (region_ == nullptr || region_->sectors == nullptr || region_->read_only) return nullptr;
    return region_->sectors + (sector_ / kSectorUnit - region_->begin / kSectorUnit);
  }
};

// A strong access that writes hands over the fenced writes, before it does.
void HandOverBy(Warp& warp, const Instruction& i, const Access& access) {
  RaceShadow& races = warp.block->races;
  if ((i.flags & kRelease) != 0) {
    races.FenceGlobal(warp);
    ++warp.clock;
  }
  UnitOrder& unit = warp.block->global->GetUnit(warp);
  for (uint32_t left = access.mask; left != 0; left &= left - 1)
    unit.Release(warp.index - warp.cluster_first, access.address[First(left)], races.GetGlobalFenced(warp));
}

}  // namespace

std::string LaunchText(const EarlierLaunch& launch, const GlobalAccess& access) {
  if (launch.program == nullptr) return std::string("a copy or fill of another stream") + Did(access);
  return "kernel " + launch.program->name + " of another stream" + Did(access) + " at " +
         SourceText(launch.program->sources[access.statement]);
}

std::string TouchByDriver(const Launch& order, const Region& region, uint64_t address, uint64_t bytes, bool writes) {
  GlobalAccess now;
  now.launch = order.number;
  now.unit = now.statement = ~0U;
  now.kind = static_cast<uint8_t>(writes ? AccessKind::kWrite : AccessKind::kRead);
  for (uint64_t at = address; at < address + bytes;) {
    const uint32_t offset = at % kSectorUnit;
    const auto count = static_cast<uint32_t>(std::min<uint64_t>(kSectorUnit - offset, address + bytes - at));
    now.bytes = Bits(offset, count);
    SectorShadow& sector = region.sectors[at / kSectorUnit - region.begin / kSectorUnit];
    GlobalAccess* place = &sector.accesses[SectorShadow::kAccesses - 1];
    for (GlobalAccess& before : sector.accesses) {
      if (before.bytes == 0 || before.launch == now.launch) {
        place = &before;
        break;
      }
      if ((before.bytes & now.bytes) == 0 || (!writes && before.kind == now.kind)) continue;
      for (const EarlierLaunch& other : order.unordered) {
        if (other.number != before.launch) continue;
        return Text("a copy or fill %s the byte at 0x%llx of global memory, which ", writes ? "writes" : "reads",
                    static_cast<unsigned long long>(at - offset + First(before.bytes & now.bytes))) +
               LaunchText(other, before) + kNeedsOrder;
      }
    }
    const uint32_t own = place->launch == now.launch && place->kind == now.kind ? place->bytes : 0;
    *place = now;
    place->bytes |= own;
    at += count;
  }
  return "";
}

Strength GetStrength(const Instruction& i, AccessKind kind) {
  if (kind != AccessKind::kAtomic && (i.flags & kStrong) == 0) return Strength::kWeak;
  return (i.flags & kBlockScope) != 0 ? Strength::kBlock : Strength::kAll;
}

void GlobalRaces::Reset(uint32_t first) {
  first_ = first;
  for (UnitOrder& unit : units_) unit.Reset(first++);
}

UnitOrder& GlobalRaces::GetUnit(const Warp& warp) { return units_[warp.cluster_first / warp.block->races.together()]; }

GlobalAccess GlobalRaces::Describe(const Warp& warp, const Instruction& i, AccessKind kind) const {
  GlobalAccess out;
  out.launch = warp.block->launch->number;
  out.unit = first_ + warp.cluster_first / warp.block->races.together();
  out.clock = warp.clock;
  out.statement = i.statement;
  out.warp = static_cast<uint16_t>(warp.index - warp.cluster_first);
  out.kind = static_cast<uint8_t>(kind);
  out.strength = GetStrength(i, kind);
  return out;
}

bool GlobalRaces::IsOrdered(const Warp& warp, const GlobalAccess& now, const GlobalAccess& before) {
  if (before.launch != now.launch) {
    const std::vector<EarlierLaunch>& unordered = warp.block->launch->unordered;
    return std::none_of(unordered.begin(), unordered.end(),
                        [&](const EarlierLaunch& other) { return other.number == before.launch; });
  }
  if (before.async != 0) return false;
  const uint32_t* const seen = warp.block->races.GetSeen(warp);
  if (before.unit != now.unit) return GetUnit(warp).Knows(now.warp, seen, before.unit, before.warp, before.clock);
  return before.warp == now.warp || before.clock <= seen[before.warp] || warp.block->program->has_strong;
}

bool GlobalRaces::HasObserved(const Warp& warp, const GlobalAccess& now, const GlobalAccess& before, uint64_t sector) {
  if (static_cast<AccessKind>(now.kind) != AccessKind::kWrite || before.strength != Strength::kAll) return false;
  if (before.launch != now.launch || before.async != 0 || before.unit == now.unit) return false;
  const auto first = static_cast<uint32_t>(std::countr_zero(before.bytes & now.bytes));
  return GetUnit(warp).HasAcquired(now.warp, warp.block->races.GetSeen(warp), sector + first, before.unit);
}

uint32_t GlobalRaces::Same::Among(uint32_t of) const {
  uint32_t out = of & bytes;
  for (uint32_t left = fresh != nullptr ? of : 0; left != 0; left &= left - 1) {
    const int64_t at = begin + std::countr_zero(left);
    if (fresh[at] == there[at]) out |= left & -left;
  }
  return out;
}

const GlobalAccess* GlobalRaces::Check(const Warp& warp, const GlobalAccess& now, const Same& same, uint64_t address,
                                       SectorShadow* sector) {
  constexpr auto kRead = static_cast<uint8_t>(AccessKind::kRead);
  constexpr auto kUpdate = static_cast<uint8_t>(AccessKind::kAtomic);
  GlobalAccess* const all = sector->accesses;
  uint32_t count = 0, readers = 0;
  GlobalAccess* own = nullptr;
  GlobalAccess* reader = nullptr;  // the newest of which `now` may take the place
  for (; count < SectorShadow::kAccesses && all[count].bytes != 0; ++count) {
    GlobalAccess& before = all[count];
    if (before.warp == now.warp && before.unit == now.unit && before.clock == now.clock &&
        before.launch == now.launch && before.statement == now.statement && before.async == now.async) {
      own = &before;
      continue;
    }
    const uint32_t both = before.bytes & now.bytes;
    if (both == 0) continue;
    const bool reads = now.kind == kRead && before.kind == kRead;
    if (reads && before.unit != now.unit && before.launch == now.launch) {  // whether they're ordered doesn't matter
      ++readers;
      if ((before.bytes & ~now.bytes) == 0) reader = &before;
      continue;
    }
    const Strength least = std::min(before.strength, now.strength);
    const bool strong = least == Strength::kAll || (least == Strength::kBlock && before.unit == now.unit);
    // A copy in bulk that its thread has waited for takes the place of the one that it began.
    const bool ends = before.async != 0 && now.async == 0 && before.warp == now.warp && before.unit == now.unit &&
                      before.statement == now.statement && before.kind == now.kind;
    const bool ordered = ends || IsOrdered(warp, now, before) || (!strong && HasObserved(warp, now, before, address));
    if (!ordered && !reads && !strong) {
      if (before.kind == kUpdate || now.kind == kRead || (both & ~same.Among(both)) != 0) return &before;
    }
    const bool weaker = now.strength == Strength::kWeak || before.strength != Strength::kWeak;
    if (ordered && weaker && (now.kind != kRead || before.kind == kRead)) before.bytes &= ~now.bytes;
  }
  if (own != nullptr) {
    own->bytes |= now.bytes;
  } else if (readers >= 2 && reader != nullptr) {
    *reader = now;
  } else {
    if (count == SectorShadow::kAccesses) {  // one has to go
      const auto gone = std::find_if(all, all + count, [](const GlobalAccess& a) { return a.bytes == 0; });
      const auto read = std::find_if(all, all + count, [](const GlobalAccess& a) { return a.kind == kRead; });
      GlobalAccess* const place = gone != all + count ? gone : read != all + count ? read : all;
      *place = now;
    } else {
      all[count++] = now;
    }
  }
  // Those that have no byte left aren't kept.
  uint32_t kept = 0;
  for (uint32_t a = 0; a < count; ++a) {
    if (all[a].bytes == 0) continue;
    if (kept != a) all[kept] = all[a];
    ++kept;
  }
  for (; kept < count; ++kept) all[kept].bytes = 0;
  return nullptr;
}

void CheckGlobal(Warp& warp, const Instruction& i, const Access& access, uint32_t same) {
  Walk walk(&warp, i, access.kind);
  for (uint32_t left = access.mask; left != 0; left &= left - 1) {
    const auto lane = First(left);
    walk.Range(access.address[lane], access.bytes, lane, (same >> lane & 1) != 0);
  }
  walk.Flush();
  if (access.kind != AccessKind::kRead && GetStrength(i, access.kind) == Strength::kAll) HandOverBy(warp, i, access);
}

void CheckGlobalRow(Warp& warp, const Instruction& i, const RowAccess& row, const uint8_t* fresh) {
  Walk walk(&warp, i, row.kind);
  if (fresh != nullptr) walk.SetFresh(row.address, fresh, row.lanes.host);
  if (row.lanes.mask == ~0U && row.lanes.step != 0) {
    walk.Range(row.address, uint64_t{row.bytes} * kLanes, 0, false);
  } else {
    for (uint32_t left = row.lanes.mask; left != 0; left &= left - 1) {
      const auto lane = First(left);
      walk.Range(row.address + row.lanes.Offset(lane), row.bytes, lane, false);
      if (row.lanes.step == 0) break;  // all lanes have one address
    }
  }
  walk.Flush();
}

void CheckGlobalBytes(Warp& warp, const Instruction& i, AccessKind kind, uint64_t address, uint64_t bytes,
                      uint32_t lane, bool same) {
  Walk walk(&warp, i, kind);
  walk.Range(address, bytes, lane, same);
  walk.Flush();
}

void AcquireGlobal(Warp& warp, const Instruction& i, const Access& access) {
  if (access.kind == AccessKind::kWrite || GetStrength(i, access.kind) != Strength::kAll) return;
  UnitOrder& unit = warp.block->global->GetUnit(warp);
  for (uint32_t left = access.mask; left != 0; left &= left - 1)
    unit.Acquire(warp.index - warp.cluster_first, access.address[First(left)], warp.clock);
}

void BeginBulkWrite(Warp& warp, const Instruction& i, AccessKind kind, uint64_t address, uint64_t bytes, uint32_t lane,
                    bool same) {
  Walk walk(&warp, i, kind);
  walk.SetAsync();
  walk.Range(address, bytes, lane, same);
  walk.Flush();
  warp.bulk_writes.push_back({lane, warp.bulk_groups[lane], i.statement, kind == AccessKind::kAtomic, address, bytes});
}

void EndBulkWrites(Warp& warp, const Instruction& wait, uint32_t mask, uint64_t left) {
  std::erase_if(warp.bulk_writes, [&](const BulkWrite& write) {
    if ((mask >> write.lane & 1) == 0 || write.group + left >= warp.bulk_groups[write.lane]) return false;
    Instruction copy = wait;
    copy.statement = write.statement;
    // A race was looked for when the copy began, and by each access since: now there is nothing to compare its values with.
    CheckGlobalBytes(warp, copy, write.updates ? AccessKind::kAtomic : AccessKind::kWrite, write.address, write.bytes,
                     write.lane, true);
    return true;
  });
}

void RunFence(Warp& warp, const Instruction& /*i*/, uint32_t /*mask*/) {
  if (warp.block->global == nullptr) return;
  warp.block->races.FenceGlobal(warp);
  ++warp.clock;
}

}  // namespace kernpack::emulator
