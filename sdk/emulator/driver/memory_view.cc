#include "driver/memory_view.h"

#include "exec/fault.h"

namespace kernpack::cuda {
namespace {

unsigned long long N(uint64_t value) { return value; }

}  // namespace

// Memory of another device only where peer access has been enabled.
bool MemoryView::Reaches(const Block& block) const {
  if (block.kind == BlockKind::kHost || block.kind == BlockKind::kManaged) return true;
  if (block.kind == BlockKind::kMapped) return block.devices.count(context_->device) != 0;
  if (block.device == context_->device) return true;
  for (Context peer : context_->peers) {
    if (peer->device == block.device) return true;
  }
  return false;
}

const emulator::Region* MemoryView::Find(uint64_t address) const {
  if (address - kWorkspace < workspace_.size) return &workspace_;
  const Block* block = FindBlock(address, 0);
  return block != nullptr && block->usable && Reaches(*block) ? &block->region : nullptr;
}

std::string MemoryView::Near(uint64_t address) const {
  const Machine& machine = Machine::Get();
  if (address < 4096) return "that is a null pointer, or near one";
  if (const Block* block = FindBlock(address, 0)) {
    if (block->kind == BlockKind::kMapped && !Reaches(*block))
      return emulator::Text(
          "it is memory that the program has mapped and to which cuMemSetAccess hasn't given device %d access",
          context_->device);
    if (!block->usable)
      return "it is in memory of a pool before its allocation, or after its release, in the order of the stream";
    if (!Reaches(*block))
      return emulator::Text("it is memory of device %d, to which device %d has no peer access", block->device,
                            context_->device);
    const uint64_t offset = address - block->region.begin;
    return emulator::Text("it begins in an allocation of %llu bytes, at byte %llu, and ends outside", N(block->size),
                          N(offset));
  }
  for (auto freed = machine.freed.rbegin(); freed != machine.freed.rend(); ++freed) {
    if (address >= freed->first && address - freed->first < freed->second) {
      return emulator::Text("it is byte %llu of an allocation of %llu bytes that has been freed",
                            N(address - freed->first), N(freed->second));
    }
  }
  std::string text = InArena(address) ? "no allocation is there" : "it isn't an address of the device";
  if (!InArena(address)) return text + "; kernels cannot use the host's own memory";
  const auto above = machine.blocks.upper_bound(address);
  if (above != machine.blocks.begin()) {
    const auto below = std::prev(above);
    if (InArena(below->first)) {
      text += emulator::Text("; the nearest below is one of %llu bytes, which ends %llu bytes before",
                             N(below->second.size), N(address - below->first - below->second.size));
    }
  }
  if (above != machine.blocks.end() && InArena(above->first)) {
    text += emulator::Text("; the nearest above is one of %llu bytes, which begins %llu bytes after",
                           N(above->second.size), N(above->first - address));
  }
  return text;
}

}  // namespace kernpack::cuda
