#include "exec/access.h"

#include <iterator>

#include "exec/clusters.h"
#include "exec/fault.h"
#include "exec/memory_ops.h"
#include "exec/warp.h"
#include "exec/taint.h"

namespace kernpack::emulator {
namespace {

const char* Doing(AccessKind kind) {
  return kind == AccessKind::kRead ? "reads" : kind == AccessKind::kWrite ? "writes" : "updates";
}

[[noreturn]] void OutOfBounds(const Warp& warp, const Instruction& instruction, const Access& access, uint32_t lane,
                              const std::string& near) {
  Fail(warp, instruction, lane, Fault::Kind::kIllegalAddress,
       Text("%s %u bytes at 0x%llx: ", Doing(access.kind), access.bytes,
            static_cast<unsigned long long>(access.address[lane])) +
           near);
}

void CheckAlignment(const Warp& warp, const Instruction& instruction, const Access& access) {
  const uint32_t align = access.align != 0 ? access.align : access.bytes;
  if ((align & (align - 1)) != 0) return;
  uint64_t low = 0;
  if (access.mask == ~0U) {
    for (uint32_t l = 0; l < kLanes; ++l) low |= access.address[l];
  } else {
    for (uint32_t left = access.mask; left != 0; left &= left - 1) low |= access.address[First(left)];
  }
  if ((low & (align - 1)) == 0) return;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((access.mask >> l & 1) == 0 || (access.address[l] & (align - 1)) == 0) continue;
    Fail(warp, instruction, l, Fault::Kind::kMisaligned,
         Text("%s %u bytes at 0x%llx, which is not a multiple of %u", Doing(access.kind), access.bytes,
              static_cast<unsigned long long>(access.address[l]), align));
  }
}

void CheckWritten(const Warp& warp, const Instruction& instruction, const Access& access, const uint8_t* written,
                  uint64_t begin, const char* what) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((access.mask >> l & 1) == 0 || AllWritten(written, access.address[l] - begin, access.bytes)) continue;
    Fail(warp, instruction, l, Fault::Kind::kUninitialised,
         Text("%s %u bytes at 0x%llx of %s memory that nothing has written", Doing(access.kind), access.bytes,
              static_cast<unsigned long long>(access.address[l]), what));
  }
}

// A load of shared memory may read what nothing has written, if nothing comes of it.
void NoteUnwritten(Warp* warp, const Instruction& instruction, Access* access) {
  const uint8_t* written = warp->block->shared_written.data();
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((access->mask >> l & 1) == 0 || AllWritten(written, access->address[l], access->bytes)) continue;
    access->unwritten |= 1U << l;
    TaintFrom(*warp, instruction, l, access->address[l]);
  }
}

void InParameters(const Warp& warp, const Instruction& instruction, Access* access) {
  const uint64_t size = warp.block->program->parameter_bytes;
  auto* const data = const_cast<uint8_t*>(warp.block->launch->parameters);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((access->mask >> l & 1) == 0) continue;
    if (access->address[l] > size || access->bytes > size - access->address[l]) {
      OutOfBounds(warp, instruction, *access, l,
                  Text("the block has %llu bytes of parameter memory", static_cast<unsigned long long>(size)));
    }
    access->host[l] = data + access->address[l];
  }
}

void InShared(const Warp& warp, const Instruction& instruction, Access* access) {
  Block& block = *warp.block;
  const bool whole_cluster = instruction.space == Space::kGeneric || (instruction.flags & kCluster) != 0;
  for (uint32_t left = access->mask; left != 0; left &= left - 1) {
    const uint32_t l = First(left);
    uint64_t offset = access->address[l], base = warp.shared_base;
    if (whole_cluster && offset >= kRankUnit) {
      base = GetSharedBase(warp, instruction, l, offset);
      offset %= kRankUnit;
    }
    if (offset > block.shared_bytes || access->bytes > block.shared_bytes - offset) {
      OutOfBounds(
          warp, instruction, *access, l,
          Text("the block has %llu bytes of shared memory", static_cast<unsigned long long>(block.shared_bytes)) +
              (access->address[l] >= kRankUnit && !whole_cluster && block.launch->cluster_blocks() > 1
                   ? "; another block's is reached by generic addresses and by .shared::cluster"
                   : ""));
    }
    access->address[l] = base + offset;
    access->host[l] = block.shared.data() + access->address[l];
  }
}

void InLocal(const Warp& warp, const Instruction& instruction, Access* access) {
  const Block& block = *warp.block;
  const uint64_t size = block.program->local_bytes;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((access->mask >> l & 1) == 0) continue;
    if (access->address[l] > size || access->bytes > size - access->address[l]) {
      OutOfBounds(warp, instruction, *access, l,
                  Text("the thread has %llu bytes of local memory", static_cast<unsigned long long>(size)));
    }
    access->host[l] =
        const_cast<uint8_t*>(block.local.data()) + (uint64_t{warp.index} * kLanes + l) * size + access->address[l];
  }
}

bool Within(const Region& region, uint64_t address, uint32_t bytes) {
  return address >= region.begin && address - region.begin <= region.size &&
         bytes <= region.size - (address - region.begin);
}

void InGlobal(Warp& warp, const Instruction& instruction, Access* access) {
  Block& block = *warp.block;
  const bool reads = access->kind != AccessKind::kWrite, writes = access->kind != AccessKind::kRead;
  const bool uninitialised = warp.block->launch->checks.uninitialised && reads;
  const Region* first = nullptr;
  uint32_t outside = 0;  // lanes of other regions than the first's
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((access->mask >> l & 1) == 0) continue;
    const Region* region = first;
    if (region == nullptr || !Within(*region, access->address[l], access->bytes)) {
      region = FindRegion(block, access->address[l]);
      if (region == nullptr || !Within(*region, access->address[l], access->bytes)) {
        OutOfBounds(warp, instruction, *access, l, block.launch->memory->Near(access->address[l]));
      }
      if (writes && region->read_only) OutOfBounds(warp, instruction, *access, l, "it is a constant of the module");
      if (first == nullptr) first = region;
      if (region != first) outside |= 1U << l;
    }
    access->host[l] = region->data + (access->address[l] - region->begin);
    if (region != first && uninitialised && region->written != nullptr &&
        !AllWritten(region->written, access->address[l] - region->begin, access->bytes)) {
      Access one = *access;
      one.mask = 1U << l;
      CheckWritten(warp, instruction, one, region->written, region->begin, "global");
    }
  }
  if (!uninitialised || first == nullptr || first->written == nullptr) return;
  if (outside == 0) return CheckWritten(warp, instruction, *access, first->written, first->begin, "global");
  Access rest = *access;
  rest.mask &= ~outside;
  CheckWritten(warp, instruction, rest, first->written, first->begin, "global");
}

}  // namespace

Space GetWindow(uint64_t address) {
  switch (address & kWindowMask) {
    case kSharedWindow:
      return Space::kShared;
    case kLocalWindow:
      return Space::kLocal;
    case kParamWindow:
      return Space::kParam;
    default:
      return Space::kGlobal;
  }
}

const Region* FindRegion(Block& block, uint64_t address) {
  for (const Region* region : block.regions) {
    if (region != nullptr && address - region->begin < region->size) return region;
  }
  const Region* found = block.launch->memory->Find(address);
  if (found != nullptr) block.regions[block.next_region++ % std::size(block.regions)] = found;
  return found;
}

void Addresses(const Warp& warp, const Instruction& i, uint64_t* out) {
  const auto displacement = static_cast<uint64_t>(i.displacement);
  if (i.op[0] == kNoOperand) {
    for (uint32_t l = 0; l < kLanes; ++l) out[l] = displacement;
  } else if (i.op[7] == 8) {
    const auto* base = reinterpret_cast<const uint64_t*>(warp.registers + i.op[0]);
    for (uint32_t l = 0; l < kLanes; ++l) out[l] = base[l] + displacement;
  } else {
    const auto* base = reinterpret_cast<const uint32_t*>(warp.registers + i.op[0]);
    for (uint32_t l = 0; l < kLanes; ++l) out[l] = uint32_t(base[l] + displacement);
  }
}

void Locate(Warp& warp, const Instruction& instruction, const uint64_t* addresses, uint32_t* remaining,
            Access* access) {
  Block& block = *warp.block;
  access->space = instruction.space;
  access->mask = *remaining;
  access->unwritten = 0;
  if (!warp.taint.empty()) NeedUntainted(warp, instruction, instruction.op[0], *remaining, "has an address from");
  uint64_t base = 0;
  if (instruction.space == Space::kGeneric) {
    access->space = GetWindow(addresses[First(*remaining)]);
    for (uint32_t l = 0; l < kLanes; ++l) {
      if (GetWindow(addresses[l]) != access->space) access->mask &= ~(1U << l);
    }
    base = addresses[First(*remaining)] & kWindowMask;
    if (access->space == Space::kGlobal) base = 0;
  }
  for (uint32_t l = 0; l < kLanes; ++l) access->address[l] = addresses[l] - base;
  *remaining &= ~access->mask;
  CheckAlignment(warp, instruction, *access);
  switch (access->space) {
    case Space::kShared:
      InShared(warp, instruction, access);
      if (block.copies_under_way != 0) NeedArrived(warp, instruction, *access);
      if (block.reads.any() && access->kind != AccessKind::kRead) {
        for (uint32_t left = access->mask; left != 0; left &= left - 1)
          NeedUnread(warp, instruction, access->address[First(left)], access->bytes, First(left));
      }
      if (!block.launch->checks.uninitialised || access->kind == AccessKind::kWrite) return;
      if (access->kind == AccessKind::kRead) return NoteUnwritten(&warp, instruction, access);
      return CheckWritten(warp, instruction, *access, block.shared_written.data(), 0, "shared");
    case Space::kParam:
      if (access->kind != AccessKind::kRead) {
        Fail(warp, instruction, First(access->mask), Fault::Kind::kIllegalAddress,
             "writes to the kernel's parameters, which are constant");
      }
      InParameters(warp, instruction, access);
      return;
    case Space::kLocal:
      return InLocal(warp, instruction, access);
    case Space::kGeneric:
    case Space::kGlobal:
    case Space::kConst:
      return InGlobal(warp, instruction, access);
  }
}

void Wrote(Warp& warp, const Instruction& /*instruction*/, const Access& access) {
  Block& block = *warp.block;
  const bool shared = access.space == Space::kShared;
  if (!block.launch->checks.uninitialised || (!shared && access.space != Space::kGlobal)) return;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((access.mask >> l & 1) == 0) continue;
    if (shared) {
      MarkWritten(block.shared_written.data(), access.address[l], access.bytes);
      continue;
    }
    const Region* region = FindRegion(block, access.address[l]);
    if (region->written != nullptr) MarkWritten(region->written, access.address[l] - region->begin, access.bytes);
  }
}

void NeedFenced(const Warp& warp, const Instruction& instruction, uint64_t address, uint32_t bytes, uint32_t lane) {
  const RaceShadow::Conflict conflict = warp.block->races.Unfenced(warp, address, bytes);
  if (!conflict.found) return;
  const Source& other = warp.block->program->sources[conflict.other_statement];
  const Warp& there = warp.block->warps[conflict.other / kLanes];
  Fail(warp, instruction, lane, Fault::Kind::kRace,
       Text("reads %u bytes of shared memory at 0x%llx through the async proxy, which %s wrote at %s with no "
            "fence.proxy.async in between",
            bytes, static_cast<unsigned long long>(address), ThreadText(warp, there, conflict.other % kLanes).c_str(),
            SourceText(other).c_str()));
}

void NeedUnread(const Warp& warp, const Instruction& instruction, uint64_t address, uint32_t bytes, uint32_t lane) {
  const AsyncRead* const read = warp.block->reads.Find(address, bytes);
  if (read == nullptr) return;
  const Source& source = warp.block->program->sources[read->statement];
  Fail(warp, instruction, lane, Fault::Kind::kRace,
       Text("writes %u bytes of shared memory at 0x%llx, which %s by %s may still be reading: %s has to come first",
            bytes, static_cast<unsigned long long>(address), SourceText(source).c_str(),
            ThreadText(warp, warp.block->warps[read->warp], read->lane).c_str(), read->end));
}

void RunProxyFence(Warp& warp, const Instruction& /*i*/, uint32_t /*mask*/) {
  warp.block->races.FenceProxy(warp);
  ++warp.clock;
}

bool RacesChecked(const Warp& warp, Space space) { return space == Space::kShared && warp.block->launch->checks.races; }

void CheckRaces(Warp& warp, const Instruction& instruction, AccessKind kind, uint64_t address, uint32_t bytes,
                uint32_t lane, bool same) {
  const RaceShadow::Conflict conflict = warp.block->races.Check(warp, lane, instruction, address, bytes, kind, same);
  if (!conflict.found) return;
  const Source& other = warp.block->program->sources[conflict.other_statement];
  const Warp& there = warp.block->warps[conflict.other / kLanes];
  const std::string who = ThreadText(warp, there, conflict.other % kLanes);
  Fail(warp, instruction, lane, Fault::Kind::kRace,
       Text("%s %u bytes of shared memory at 0x%llx, which %s %s at %s with no barrier in between", Doing(kind), bytes,
            static_cast<unsigned long long>(address),
            conflict.of_warp ? ("a thread of the warp that begins with " + who).c_str() : who.c_str(),
            conflict.other_wrote ? "wrote" : "read", SourceText(other).c_str()));
}

}  // namespace kernpack::emulator
