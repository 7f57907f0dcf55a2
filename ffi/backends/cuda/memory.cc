#include "backends/cuda/memory.h"

#include <algorithm>

#include "backends/cuda/capture.h"
#include "backends/cuda/text.h"

namespace kernpack::cuda {
namespace {

constexpr const char* kAskOutside =
    "what the graph uses must be there before it: run the function once before the capture, so that its memory is "
    "pooled";

const char* KindName(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kManaged:
      return "managed";
    case MemoryKind::kHost:
      return "pinned host";
    default:
      return "device";
  }
}

const char* AllocateCall(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kManaged:
      return "cuMemAllocManaged";
    case MemoryKind::kHost:
      return "cuMemHostAlloc";
    case MemoryKind::kPool:
      return "cuMemAllocFromPoolAsync";
    default:
      return "cuMemAlloc";
  }
}

// "allocating 4096 bytes of device memory (1.0 GB free of 80.0 GB)"
std::string Doing(const Device& device, MemoryKind kind, uint64_t bytes) {
  std::string text =
      Format("allocating %llu bytes of %s memory", static_cast<unsigned long long>(bytes), KindName(kind));
  size_t free = 0;
  size_t total = 0;
  if (kind != MemoryKind::kHost && device.driver().cuMemGetInfo(&free, &total) == kSuccess) {
    text += Format(" (%zu of %zu bytes are free)", free, total);
  }
  return text;
}

// Call within an ActiveContext.
int Finish(const Device& device, Result result, MemoryKind kind, uint64_t bytes, DevicePtr pointer, void** out) {
  if (result != kSuccess) return Fail(device, result, AllocateCall(kind), Doing(device, kind, bytes));
  *out = reinterpret_cast<void*>(static_cast<uintptr_t>(pointer));
  device.backend.allocations().Add(*out, {kind, device.ordinal, bytes});
  return 0;
}

DevicePtr Address(const void* handle) { return reinterpret_cast<uintptr_t>(handle); }

// Takes the record of a handle that is to be freed on `device`.
int TakeRecord(const Device& device, const void* handle, Allocation* out) {
  const std::optional<Allocation> found = device.backend.allocations().Take(handle);
  if (!found) {
    return Raise(
        device.host(), "ValueError",
        Format("%s: expected memory that this backend allocated, got the handle %p, which it did not or which is "
               "freed already",
               device.name().c_str(), handle));
  }
  if (found->device != device.ordinal) {
    device.backend.allocations().Add(handle, *found);
    return Raise(
        device.host(), "ValueError",
        Format("%s: the handle %p is memory of cuda:%d; free it there", device.name().c_str(), handle, found->device));
  }
  *out = *found;
  return 0;
}

struct Answer {
  Result result;
  const char* call;
};

int Freed(const Device& device, const Answer& answer) {
  return answer.result == kSuccess ? 0 : FailToFree(device, answer.result, answer.call, "freeing memory");
}

// cuMemFree and cuMemFreeHost wait for all work of the context, so whatever still uses the memory completes first.
Answer FreeNow(const Device& device, const RetiredMemory& memory) {
  const RelaxedCapture relaxed(device.driver());
  if (memory.allocation.kind == MemoryKind::kHost) {
    return {device.driver().cuMemFreeHost(memory.handle), "cuMemFreeHost"};
  }
  return {device.driver().cuMemFree(Address(memory.handle)), "cuMemFree"};
}

// Gives back what was freed. What the driver refuses stays for the next time.
Answer GiveBack(const Device& device) {
  Answer answer{kSuccess, ""};
  for (const RetiredMemory& memory : device.retired.Take()) {
    if (answer.result == kSuccess) answer = FreeNow(device, memory);
    if (answer.result != kSuccess && !IsGone(answer.result)) device.retired.Add(memory);
  }
  return answer;
}

// Frees memory that isn't of one stream's order: any stream may have used it.
int Retire(const Device& device, const RetiredMemory& memory) {
  if (device.retired.keeps()) return device.retired.Add(memory) ? Freed(device, GiveBack(device)) : 0;
  const int code = Freed(device, FreeNow(device, memory));
  if (code != 0) device.backend.allocations().Add(memory.handle, memory.allocation);  // to be freed again
  return code;
}

// The result of `allocate`. If there is no memory, freed memory is given back, and `allocate` is called again.
template <typename Allocate>
Result Allocated(const Device& device, const Allocate& allocate) {
  const Result result = allocate();
  if (result != kOutOfMemory || !device.retired.keeps()) return result;
  static_cast<void>(GiveBack(device));  // what it can't give back is missed by the allocation, which says so
  return allocate();
}

}  // namespace

int Allocate(const Device& device, uint64_t bytes, MemoryKind kind, void** out) {
  if (kind == MemoryKind::kManaged && !device.limits.managed_memory) {
    return Raise(device.host(), "RuntimeError",
                 Format("%s: the device has no managed memory; use scope 'global', or 'host'", device.name().c_str()));
  }
  const ActiveContext active(device);
  if (active.failed()) return -1;
  const RelaxedCapture relaxed(device.driver());
  const size_t size = std::max<uint64_t>(bytes, 1);  // the driver refuses 0
  DevicePtr pointer = 0;
  const Result result = Allocated(device, [&] {
    if (kind == MemoryKind::kManaged) return device.driver().cuMemAllocManaged(&pointer, size, kMemAttachGlobal);
    if (kind != MemoryKind::kHost) return device.driver().cuMemAlloc(&pointer, size);
    void* address = nullptr;
    const Result pinned = device.driver().cuMemHostAlloc(&address, size, kMemHostAllocPortable);
    pointer = Address(address);
    return pinned;
  });
  return Finish(device, result, kind, bytes, pointer, out);
}

int Free(const Device& device, void* handle) {
  if (handle == nullptr) return 0;
  const ActiveContext active(device);
  if (active.failed()) return -1;
  Allocation allocation{};
  if (TakeRecord(device, handle, &allocation) != 0) return -1;
  if (allocation.kind != MemoryKind::kPool) return Retire(device, {handle, allocation});
  device.backend.allocations().Add(handle, allocation);
  return Raise(
      device.host(), "ValueError",
      Format("%s: the handle %p was allocated in the order of a stream; free it with free_async, on that stream",
             device.name().c_str(), handle));
}

int AllocateOn(const Device& device, uint64_t bytes, Stream stream, void** out) {
  const ActiveContext active(device);
  if (active.failed()) return -1;
  if (RefuseCapture(device, stream, "allocating memory", kAskOutside) != 0) return -1;
  if (!device.limits.memory_pools) return Allocate(device, bytes, MemoryKind::kGlobal, out);
  Pool pool = nullptr;
  if (device.GetPool(&pool) != 0) return -1;
  const RelaxedCapture relaxed(device.driver());
  DevicePtr pointer = 0;
  const Result result = Allocated(device, [&] {
    return device.driver().cuMemAllocFromPoolAsync(&pointer, std::max<uint64_t>(bytes, 1), pool, stream);
  });
  return Finish(device, result, MemoryKind::kPool, bytes, pointer, out);
}

int FreeOn(const Device& device, void* handle, Stream stream) {
  if (handle == nullptr) return 0;
  const ActiveContext active(device);
  if (active.failed()) return -1;
  Allocation allocation{};
  if (TakeRecord(device, handle, &allocation) != 0) return -1;
  if (allocation.kind != MemoryKind::kPool) return Retire(device, {handle, allocation});
  if (IsCaptured(device, stream)) {
    device.backend.allocations().Add(handle, allocation);
    return RefuseCapture(device, stream, "freeing memory",
                         "the graph would go on using it: free it after the graph's last run");
  }
  const int code = Freed(device, {device.driver().cuMemFreeAsync(Address(handle), stream), "cuMemFreeAsync"});
  if (code != 0) device.backend.allocations().Add(handle, allocation);  // to be freed again
  return code;
}

int Trim(const Device& device) {
  const ActiveContext active(device);
  if (active.failed() || Freed(device, GiveBack(device)) != 0) return -1;
  if (!device.limits.memory_pools) return 0;
  Pool pool = nullptr;
  if (device.GetPool(&pool) != 0) return -1;
  const RelaxedCapture relaxed(device.driver());
  KP_CUDA_TRY(device, cuMemPoolTrimTo, (pool, 0), "giving unused memory back");
  return 0;
}

int PoolBytes(const Device& device, MemPoolAttribute attribute, uint64_t* out) {
  const ActiveContext active(device);
  Pool pool = nullptr;
  if (active.failed() || device.GetPool(&pool) != 0) return -1;
  unsigned long long value = 0;
  KP_CUDA_TRY(device, cuMemPoolGetAttribute, (pool, attribute, &value), "asking how much memory is in use");
  *out = value;
  return 0;
}

}  // namespace kernpack::cuda
