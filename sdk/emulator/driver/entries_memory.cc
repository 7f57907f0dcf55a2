// Memory: device, pinned, managed, pools.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "driver/machine.h"
#include "exec/global_shadow.h"

namespace kernpack::cuda {
namespace {

constexpr uint64_t kGranule = 512;

uint64_t Rounded(uint64_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }

bool Fits(int device, uint64_t bytes) {
  Machine& machine = Machine::Get();
  const auto limit = static_cast<uint64_t>(machine.Setting("memory_bytes"));
  return bytes <= limit && machine.used[device] + Rounded(bytes) <= limit;
}

// Memory begins with rubbish, as a GPU's is full of. Pages of its own, which cost nothing until they are touched.
uint8_t* Backing(uint64_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::memset(memory, 0xa5, std::min<uint64_t>(bytes, 1 << 16));
  return static_cast<uint8_t*>(memory);
}

bool OnDevice(BlockKind kind) { return kind != BlockKind::kHost && kind != BlockKind::kManaged; }
bool Counted(BlockKind kind) {
  return kind != BlockKind::kHost && kind != BlockKind::kModule && kind != BlockKind::kShared;
}
uint64_t MapBytes(uint64_t bytes) { return bytes / 8 + 1; }
// Allocations on the device begin with a sector.
uint64_t SectorBytes(uint64_t bytes) { return emulator::CountSectors(0, bytes) * sizeof(emulator::SectorShadow); }

}  // namespace

// An address that the host cannot read, with a hole behind it, or the backing itself.
Result AddBlock(BlockKind kind, int device, uint64_t bytes, bool usable, DevicePtr* out) {
  Machine& machine = Machine::Get();
  uint8_t* backing = Backing(bytes);
  if (backing == nullptr) return kOutOfMemory;
  uintptr_t address = reinterpret_cast<uintptr_t>(backing);
  uint8_t* written = nullptr;
  emulator::SectorShadow* sectors = nullptr;
  if (OnDevice(kind)) {
    if (machine.arena_next + Rounded(bytes) + 4096 > machine.arena + kArenaBytes) {  // addresses are never given twice
      munmap(backing, bytes);
      return kOutOfMemory;
    }
    void* map =
        mmap(nullptr, MapBytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
      munmap(backing, bytes);
      return kOutOfMemory;
    }
    written = static_cast<uint8_t*>(map);
    if (machine.Setting("global_races") != 0) {
      // Without it, races in this memory aren't found.
      map =
          mmap(nullptr, SectorBytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (map != MAP_FAILED) sectors = static_cast<emulator::SectorShadow*>(map);
    }
    address = machine.arena_next;
    machine.arena_next += Rounded(bytes) + 4096;
  }
  if (Counted(kind)) machine.used[device] += Rounded(bytes);
  machine.blocks[address] = {kind,   device, bytes,   backing,
                             usable, false,  nullptr, {address, bytes, backing, written, false, sectors}};
  *out = address;
  return kSuccess;
}

void NoteFreed(uintptr_t address, uint64_t bytes) {
  constexpr size_t kRemembered = 4096;
  auto& freed = Machine::Get().freed;
  freed.emplace_back(address, bytes);
  if (freed.size() > kRemembered) freed.pop_front();
}

void RemoveBlock(uintptr_t address) {
  Machine& machine = Machine::Get();
  const auto found = machine.blocks.find(address);
  const Block& block = found->second;
  if (Counted(block.kind)) machine.used[block.device] -= Rounded(block.size);
  if (!block.registered) munmap(block.backing, block.size);
  if (block.region.written != nullptr) {
    munmap(block.region.written, MapBytes(block.size));
    if (block.region.sectors != nullptr) munmap(block.region.sectors, SectorBytes(block.size));
    NoteFreed(address, block.size);
  }
  if (block.file >= 0) close(block.file);
  machine.blocks.erase(found);
}

void NoteWritten(DevicePtr to, uint64_t bytes) {
  const Block* block = FindBlock(to, bytes);
  if (block != nullptr) TouchMemory(block->region, to, bytes, true);
  if (block != nullptr && block->region.written != nullptr) {
    emulator::MarkWritten(block->region.written, to - block->region.begin, bytes);
  }
}

// Bytes that were never written count as unwritten in the copy too.
void NoteCopied(DevicePtr from, DevicePtr to, uint64_t bytes) {
  const Block* source = FindBlock(from, bytes);
  const Block* target = FindBlock(to, bytes);
  if (source != nullptr) TouchMemory(source->region, from, bytes, false);
  if (source == nullptr || source->region.written == nullptr) return NoteWritten(to, bytes);
  if (target == nullptr || target->region.written == nullptr) return;
  const uint8_t* map = source->region.written;
  const uint64_t at = from - source->region.begin;
  if (emulator::AllWritten(map, at, bytes)) return NoteWritten(to, bytes);
  TouchMemory(target->region, to, bytes, true);
  uint8_t* copy = target->region.written;
  for (uint64_t i = 0, out = to - target->region.begin; i < bytes; ++i, ++out) {
    const bool known = (map[(at + i) / 8] >> ((at + i) % 8) & 1) != 0;
    copy[out / 8] = static_cast<uint8_t>((copy[out / 8] & ~(1U << (out % 8))) | (known ? 1U << (out % 8) : 0U));
  }
}

namespace {

Result AllocateNow(BlockKind kind, uint64_t bytes, DevicePtr* out) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (const Result result = UnsafeWhileCapturing(); result != kSuccess) return result;
  if (bytes == 0) return kInvalidValue;
  if (kind != BlockKind::kHost && !Fits(context->device, bytes)) return kOutOfMemory;
  return AddBlock(kind, context->device, bytes, true, out);
}

// Waits for all work of every context, as the driver does.
Result FreeNow(DevicePtr pointer, bool host) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (const Result result = UnsafeWhileCapturing(); result != kSuccess) return result;
  Machine& machine = Machine::Get();
  const auto found = machine.blocks.find(pointer);
  if (found == machine.blocks.end() || found->second.kind == BlockKind::kPool ||
      found->second.kind == BlockKind::kModule || found->second.kind == BlockKind::kMapped ||
      found->second.kind == BlockKind::kShared || found->second.variable) {
    return kInvalidValue;
  }
  if ((found->second.kind == BlockKind::kHost) != host) return kInvalidValue;
  for (const auto& owner : machine.contexts) RunAll(owner.get());
  if (context->broken != kSuccess) return context->broken;
  RemoveBlock(found->first);
  return kSuccess;
}

}  // namespace

Result cuMemGetInfo(size_t* free, size_t* total) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  Machine& machine = Machine::Get();
  *total = static_cast<size_t>(machine.Setting("memory_bytes"));
  *free = *total - machine.used[context->device];
  return kSuccess;
}

Result cuMemAlloc(DevicePtr* pointer, size_t bytes) { return AllocateNow(BlockKind::kDevice, bytes, pointer); }
Result cuMemFree(DevicePtr pointer) { return FreeNow(pointer, false); }

Result cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  if ((flags & ~7U) != 0) return kInvalidValue;
  DevicePtr address = 0;
  const Result result = AllocateNow(BlockKind::kHost, bytes, &address);
  if (result == kSuccess) *pointer = reinterpret_cast<void*>(address);
  return result;
}

Result cuMemFreeHost(void* pointer) { return FreeNow(reinterpret_cast<uintptr_t>(pointer), true); }

Result cuMemAllocManaged(DevicePtr* pointer, size_t bytes, unsigned flags) {
  if (flags != kMemAttachGlobal) return kInvalidValue;
  if (Machine::Get().Setting("managed") == 0) return kUnknown;
  return AllocateNow(BlockKind::kManaged, bytes, pointer);
}

Result cuMemPoolCreate(Pool* pool, const MemPoolProps* properties) {
  Machine& machine = Machine::Get();
  if (properties->alloc_type != kMemAllocationPinned || properties->location.type != kMemLocationDevice) {
    return kInvalidValue;
  }
  if (machine.Setting("pools") == 0) return kNotSupported;
  *pool = new PoolOpaque();
  (*pool)->device = properties->location.id;
  machine.pools.insert(*pool);
  return kSuccess;
}

Result cuMemPoolSetAttribute(Pool pool, MemPoolAttribute attribute, void* value) {
  if (attribute != kPoolReleaseThreshold) return kInvalidValue;
  std::memcpy(&pool->keep, value, sizeof pool->keep);
  return kSuccess;
}

Result cuMemPoolGetAttribute(Pool pool, MemPoolAttribute attribute, void* value) {
  const uint64_t bytes = pool->used + (attribute == kPoolReservedCurrent ? pool->cached : 0);
  std::memcpy(value, &bytes, sizeof bytes);
  return kSuccess;
}

Result cuMemPoolTrimTo(Pool pool, size_t bytes_to_keep) {
  Machine& machine = Machine::Get();
  const uint64_t kept = std::min<uint64_t>(pool->cached, bytes_to_keep);
  machine.used[pool->device] -= pool->cached - kept;
  pool->cached = kept;
  return kSuccess;
}

Result cuMemAllocFromPoolAsync(DevicePtr* pointer, size_t bytes, Pool pool, Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  Machine& machine = Machine::Get();
  if (bytes == 0) return kInvalidValue;
  const uint64_t reused = std::min(pool->cached, Rounded(bytes));
  machine.used[pool->device] -= reused;
  if (!Fits(pool->device, bytes)) {
    machine.used[pool->device] += reused;
    return kOutOfMemory;
  }
  pool->cached -= reused;
  pool->used += Rounded(bytes);
  if (const Result result = AddBlock(BlockKind::kPool, pool->device, bytes, false, pointer); result != kSuccess)
    return result;
  const DevicePtr address = *pointer;
  machine.blocks[address].pool = pool;
  return Enqueue(stream, [address] {
    Machine::Get().blocks[address].usable = true;
    return kSuccess;
  });
}

Result cuMemFreeAsync(DevicePtr pointer, Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  Machine& machine = Machine::Get();
  const auto found = machine.blocks.find(pointer);
  if (found == machine.blocks.end() || found->second.kind != BlockKind::kPool || found->second.free_queued) {
    return kInvalidValue;
  }
  found->second.free_queued = true;
  return Enqueue(stream, [pointer] {
    Machine& now = Machine::Get();
    const auto block = now.blocks.find(pointer);
    if (!block->second.usable) return kIllegalAddress;  // released before its own allocation: streams out of order
    const uint64_t bytes = Rounded(block->second.size);
    Pool pool = block->second.pool;
    RemoveBlock(pointer);
    now.used[pool->device] += bytes;
    pool->used -= bytes;
    pool->cached += bytes;
    return kSuccess;
  });
}

Result cuPointerGetAttribute(void* value, PointerAttribute attribute, DevicePtr pointer) {
  uintptr_t begin = 0;
  const Block* block = FindBlock(pointer, 0, &begin);
  if (block == nullptr) return kInvalidValue;
  const auto put = [value](auto answer) { return std::memcpy(value, &answer, sizeof answer), kSuccess; };
  const bool on_device = OnDevice(block->kind);
  switch (attribute) {
    case kPointerContext:
      return put(Machine::Get().contexts[static_cast<size_t>(block->device)].get());
    case kPointerMemoryType:
      return put(block->kind == BlockKind::kHost ? kMemoryTypeHost : kMemoryTypeDevice);
    case kPointerDevicePointer:
      return put(pointer);
    case kPointerHostPointer:
      return on_device ? kInvalidValue : put(pointer);
    case kPointerIsManaged:
      return put(unsigned{block->kind == BlockKind::kManaged});
    case kPointerDeviceOrdinal:
      return put(block->device);
    case kPointerRangeStart:
      return put(begin);
    case kPointerRangeSize:
      return put(size_t{block->size});
    case kPointerMapped:
      return put(1U);
    case kPointerIsIpcCapable:
      return put(unsigned{block->kind == BlockKind::kDevice});
    case kPointerSyncMemops:
      return put(0U);
    case kPointerBufferId:
      return put(static_cast<unsigned long long>(begin));  // addresses are never given twice
    case kPointerAllowedHandleTypes:
      return put(0ULL);
    case kPointerMempool:
      return put(block->pool);
  }
  return kInvalidValue;
}

}  // namespace kernpack::cuda
