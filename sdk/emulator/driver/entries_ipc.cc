// Memory and events of other processes. A handle says of which process, and which of its files holds the memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "driver/machine.h"

namespace kernpack::cuda {
namespace {

constexpr uint64_t kMemoryMark = 0x6b70656d7530001;  // of a handle that cuIpcGetMemHandle wrote
constexpr uint64_t kEventMark = 0x6b70656d7530002;
constexpr unsigned kLazyPeerAccess = 1;  // CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, which has to be asked for

struct Shared {
  uint64_t mark, bytes, serial;
  int process, file, device;
};
static_assert(sizeof(Shared) <= sizeof(IpcHandle));

uint64_t Pages(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }

// The file holds the bytes, and from the next page on a bit for each of them that says whether it was written.
bool Place(int file, uint64_t at, uint64_t bytes, uint8_t** where) {
  const int flags = MAP_SHARED | (*where != nullptr ? MAP_FIXED : 0);
  void* const memory = mmap(*where, bytes, PROT_READ | PROT_WRITE, flags, file, static_cast<off_t>(at));
  if (memory == MAP_FAILED) return false;
  *where = static_cast<uint8_t*>(memory);
  return true;
}

bool Store(int file, const uint8_t* from, uint64_t bytes, uint64_t at) {
  while (bytes != 0) {
    const ssize_t stored = pwrite(file, from, bytes, static_cast<off_t>(at));
    if (stored <= 0) return false;
    from += stored, at += static_cast<uint64_t>(stored), bytes -= static_cast<uint64_t>(stored);
  }
  return true;
}

// Moves the block's memory into a file, at the addresses that it has.
bool MoveToFile(Block* block) {
  const uint64_t bits = block->size / 8 + 1;
  const int file = memfd_create("kernpack_cuda_emulator", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return false;
  if (ftruncate(file, static_cast<off_t>(Pages(block->size) + Pages(bits))) != 0 ||
      fcntl(file, F_ADD_SEALS, kFileSeals) != 0 || !Store(file, block->backing, block->size, 0) ||
      !Store(file, block->region.written, bits, Pages(block->size)) ||
      !Place(file, 0, Pages(block->size), &block->backing) ||
      !Place(file, Pages(block->size), Pages(bits), &block->region.written)) {
    close(file);
    return false;
  }
  block->file = file;
  return true;
}

template <class T>
T Read(const IpcHandle& handle) {
  T out;
  std::memcpy(&out, handle.bytes, sizeof out);
  return out;
}

template <class T>
void Write(IpcHandle* handle, const T& value) {
  *handle = {};
  std::memcpy(handle->bytes, &value, sizeof value);
}

}  // namespace

Result cuIpcGetMemHandle(IpcHandle* handle, DevicePtr pointer) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  uintptr_t begin = 0;
  Block* const block = FindBlock(pointer, 0, &begin);
  if (handle == nullptr || block == nullptr || block->kind != BlockKind::kDevice) return kInvalidValue;
  if (block->file < 0 && !MoveToFile(block)) return kOutOfMemory;
  Write(handle, Shared{kMemoryMark, block->size, begin, static_cast<int>(getpid()), block->file, block->device});
  return kSuccess;
}

// A second opening gives the same address, and has to be closed too.
Result cuIpcOpenMemHandle(DevicePtr* out, IpcHandle handle, unsigned flags) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  const auto shared = Read<Shared>(handle);
  if (out == nullptr || flags != kLazyPeerAccess || shared.mark != kMemoryMark) return kInvalidValue;
  if (shared.process == static_cast<int>(getpid())) return kInvalidContext;  // only other processes open it
  Machine& machine = Machine::Get();
  for (auto& [address, block] : machine.blocks) {
    if (block.kind != BlockKind::kShared || block.origin != std::pair{shared.process, shared.serial}) continue;
    ++block.openings;
    *out = address;
    return kSuccess;
  }
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", shared.process, shared.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return kInvalidHandle;  // the process has ended, or freed it
  const uint64_t bits = shared.bytes / 8 + 1;
  struct stat about{};
  uint8_t *backing = nullptr, *written = nullptr;
  const bool whole = fcntl(file, F_GET_SEALS) == kFileSeals && fstat(file, &about) == 0 &&
                     static_cast<uint64_t>(about.st_size) == Pages(shared.bytes) + Pages(bits);
  if (!whole || !Place(file, 0, Pages(shared.bytes), &backing) ||
      !Place(file, Pages(shared.bytes), Pages(bits), &written)) {
    if (backing != nullptr) munmap(backing, Pages(shared.bytes));
    close(file);
    return kInvalidHandle;
  }
  const uintptr_t address = (machine.arena_next + 511) / 512 * 512;
  machine.arena_next = address + Pages(shared.bytes) + 4096;
  const int device = shared.device < machine.Setting("devices") ? shared.device : context->device;
  Block& block = machine.blocks[address];
  block = {BlockKind::kShared,
           device,
           shared.bytes,
           backing,
           true,
           false,
           nullptr,
           {address, shared.bytes, backing, written, false}};
  block.file = file, block.origin = {shared.process, shared.serial}, block.openings = 1;
  *out = address;
  return kSuccess;
}

Result cuIpcCloseMemHandle(DevicePtr pointer) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  Machine& machine = Machine::Get();
  const auto found = machine.blocks.find(pointer);
  if (found == machine.blocks.end() || found->second.kind != BlockKind::kShared) return kInvalidValue;
  if (--found->second.openings != 0) return kSuccess;
  for (const auto& owner : machine.contexts) RunAll(owner.get());
  RemoveBlock(pointer);
  return kSuccess;
}

// Work before such an event runs when the event is recorded, so that another process finds it done.
Result cuIpcGetEventHandle(IpcHandle* handle, Event event) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (Machine::Get().events.count(event) == 0) return kInvalidHandle;
  if (handle == nullptr || !event->interprocess) return kInvalidValue;
  Write(handle, Shared{kEventMark, 0, 0, static_cast<int>(getpid()), -1, event->context->device});
  return kSuccess;
}

Result cuIpcOpenEventHandle(Event* event, IpcHandle handle) {
  if (event == nullptr || Read<Shared>(handle).mark != kEventMark) return kInvalidValue;
  return cuEventCreate(event, kEventDisableTiming | kEventInterprocess);
}

}  // namespace kernpack::cuda
