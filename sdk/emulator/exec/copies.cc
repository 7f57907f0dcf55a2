#include "exec/access.h"

#include <algorithm>
#include <cstring>

#include "exec/counts.h"
#include "exec/fault.h"
#include "exec/global_races.h"
#include "exec/warp.h"
#include "exec/memory_ops.h"

namespace kernpack::emulator {
namespace {

[[noreturn]] void NotArrived(const Warp& warp, const Instruction& instruction, const Access& access, uint32_t lane) {
  const auto touches = [&](const Copy& copy) {
    return access.address[lane] + access.bytes > copy.to && access.address[lane] < copy.to + copy.bytes;
  };
  const auto fail = [&](const Warp& other, const Copy& copy, const char* wait) {
    const Source& source = warp.block->program->sources[copy.statement];
    Fail(warp, instruction, lane, Fault::Kind::kRace,
         Text("%s %u bytes of shared memory at 0x%llx while the copy at %s by %s may still be writing "
              "there: ",
              access.kind == AccessKind::kRead ? "reads" : "writes", access.bytes,
              static_cast<unsigned long long>(access.address[lane]), SourceText(source).c_str(),
              ThreadText(warp, other, copy.lane).c_str()) +
             wait);
  };
  for (const Warp& other : warp.block->warps) {
    for (const Copy& copy : other.copies) {
      if (touches(copy)) fail(other, copy, "that thread has to wait for it first (cp.async.wait_group)");
    }
  }
  for (const Bulk& bulk : warp.block->bulks) {
    if (touches(bulk.copy))
      fail(warp.block->warps[bulk.warp], bulk.copy, "its mbarrier says when it has arrived (mbarrier.try_wait)");
  }
  Fail(warp, instruction, lane, Fault::Kind::kRace, "touches shared memory to which a copy is under way");
}

void Arrive(Warp& warp, const Instruction& wait, const Copy& copy) {
  Block& block = *warp.block;
  uint8_t bytes[16] = {};
  if (copy.given != 0) std::memcpy(bytes, copy.from, copy.given);
  SetUnderWay(&block, copy, 0);
  uint8_t* const to = block.shared.data() + copy.to;
  if (RacesChecked(warp, Space::kShared)) {
    Instruction instruction = wait;
    instruction.statement = copy.statement;
    CheckRaces(warp, instruction, AccessKind::kWrite, copy.to, copy.bytes, copy.lane,
               std::memcmp(bytes, to, copy.bytes) == 0);
  }
  std::memcpy(to, bytes, copy.bytes);
  if (block.launch->checks.uninitialised) MarkWritten(block.shared_written.data(), copy.to, copy.bytes);
}

bool IsAligned(uint64_t address, uint32_t bytes) { return (bytes & (bytes - 1)) != 0 || (address & (bytes - 1)) == 0; }

// True if a lane's copy is known to be right: copy->from is set. Else Locate finds out.
bool IsRight(Warp& warp, const Instruction& i, uint64_t source, uint64_t target, Copy* copy) {
  Block& block = *warp.block;
  if (!warp.taint.empty()) return false;
  if (!IsAligned(source, copy->given) || !IsAligned(target, copy->bytes)) return false;
  if ((i.flags & kCluster) != 0 || target > block.shared_bytes || copy->bytes > block.shared_bytes - target)
    return false;
  if (block.reads.Find(copy->to, copy->bytes) != nullptr) return false;
  if (block.copies_under_way != 0) {
    const uint8_t* const words = block.under_way.data() + copy->to / 4;
    for (uint32_t w = 0; w < copy->bytes / 4; ++w) {
      if (words[w] != 0) return false;
    }
  }
  if (copy->given == 0) return true;
  const Region* const region = FindRegion(block, source);
  if (region == nullptr) return false;
  const uint64_t offset = source - region->begin;
  if (copy->given > region->size - offset) return false;
  copy->from = region->data + offset;
  return !block.launch->checks.uninitialised || region->written == nullptr ||
         AllWritten(region->written, offset, copy->given);
}

// Lanes that copy the same to the same place do what one does. The instruction's copies are the last ones.
bool IsRepeated(const Warp& warp, const Copy& copy) {
  for (auto other = warp.copies.rbegin(); other != warp.copies.rend() && other->serial == copy.serial; ++other) {
    if (other->to == copy.to && other->from == copy.from && other->given == copy.given) return true;
  }
  return false;
}

// As the warp's access of 32 lanes that it is; below, each lane is looked at alone.
void CountCopies(const Warp& warp, const Instruction& i, uint32_t mask, const uint64_t* sources,
                 const uint64_t* targets) {
  if (warp.block->counts == nullptr) return;
  Access access;
  access.bytes = i.bytes;
  access.mask = mask;
  access.space = Space::kShared;
  access.kind = AccessKind::kWrite;
  std::copy_n(targets, kLanes, access.address);
  CountAccess(warp, i, access);
  access.space = Space::kGlobal;
  access.kind = AccessKind::kRead;
  std::copy_n(sources, kLanes, access.address);
  for (uint32_t l = 0; i.op[2] != kNoOperand && l < kLanes; ++l) {
    if (reinterpret_cast<const uint32_t*>(warp.registers + i.op[2])[l] == 0) access.mask &= ~(1U << l);
  }
  CountAccess(warp, i, access);
}

}  // namespace

void SetUnderWay(Block* block, const Copy& copy, uint8_t value) {
  block->under_way.resize(block->shared.size() / 4 + 1);
  std::fill_n(block->under_way.begin() + static_cast<int64_t>(copy.to / 4), copy.bytes / 4, value);
}

void NeedArrived(const Warp& warp, const Instruction& instruction, const Access& access) {
  const std::vector<uint8_t>& under_way = warp.block->under_way;
  for (uint32_t left = access.mask; left != 0; left &= left - 1) {
    const auto lane = First(left);
    const uint64_t first = access.address[lane] / 4, last = (access.address[lane] + access.bytes - 1) / 4;
    for (uint64_t word = first; word <= last && word < under_way.size(); ++word) {
      if (under_way[word] != 0) NotArrived(warp, instruction, access, lane);
    }
  }
}

void RunCopyAsync(Warp& warp, const Instruction& i, uint32_t mask) {
  Instruction from = i, to = i;
  from.space = Space::kGlobal;
  from.op[0] = i.op[1];
  from.op[7] = 8;
  from.displacement = static_cast<int64_t>(i.target);
  to.space = Space::kShared;
  uint64_t sources[kLanes], targets[kLanes];
  Addresses(warp, from, sources);
  Addresses(warp, to, targets);
  CountCopies(warp, i, mask, sources, targets);
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = First(mask);
    Copy copy{lane, warp.copy_groups[lane], i.statement, i.bytes, i.bytes, targets[lane] + warp.shared_base, nullptr};
    if (i.op[2] != kNoOperand)
      copy.given = std::min<uint32_t>(copy.given, reinterpret_cast<const uint32_t*>(warp.registers + i.op[2])[lane]);
    copy.serial = warp.instructions;
    const bool right = IsRight(warp, to, sources[lane], targets[lane], &copy);
    if (right && copy.given != 0 && warp.block->global != nullptr)
      CheckGlobalBytes(warp, from, AccessKind::kRead, sources[lane], copy.given, lane, false);
    uint32_t one = 1U << lane;
    if (!right && copy.given != 0) {
      Access read;
      read.kind = AccessKind::kRead;
      read.bytes = copy.given;
      Locate(warp, from, sources, &one, &read);
      copy.from = read.host[lane];
      if (GlobalChecked(warp, read.space)) CheckGlobal(warp, from, read, 0);
    }
    if (IsRepeated(warp, copy)) continue;
    if (!right) {
      one = 1U << lane;
      Access write;
      write.kind = AccessKind::kWrite;
      write.bytes = i.bytes;
      Locate(warp, to, targets, &one, &write);
    }
    if (RacesChecked(warp, Space::kShared)) CheckRaces(warp, i, AccessKind::kWrite, copy.to, copy.bytes, lane, false);
    warp.copies.push_back(copy);
    ++warp.block->copies_under_way;
    SetUnderWay(warp.block, copy, 1);
  }
}

void RunCommitCopies(Warp& warp, const Instruction& /*instruction*/, uint32_t mask) {
  for (uint32_t l = 0; l < kLanes; ++l) warp.copy_groups[l] += mask >> l & 1;
}

void RunWaitForCopies(Warp& warp, const Instruction& i, uint32_t mask) {
  const auto stays = [&](const Copy& copy) {
    if ((mask >> copy.lane & 1) == 0) return true;
    return i.displacement >= 0 && copy.group + i.displacement >= warp.copy_groups[copy.lane];
  };
  const auto end = std::stable_partition(warp.copies.begin(), warp.copies.end(), stays);
  for (auto copy = end; copy != warp.copies.end(); ++copy) Arrive(warp, i, *copy);
  warp.block->copies_under_way -= static_cast<uint32_t>(warp.copies.end() - end);
  warp.copies.erase(end, warp.copies.end());
}

}  // namespace kernpack::emulator
