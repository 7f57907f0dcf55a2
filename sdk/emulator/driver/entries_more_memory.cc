// Copies, fills and memory that the CUDA backend doesn't use.
#include <algorithm>
#include <cstring>

#include "driver/machine.h"

namespace kernpack::cuda {
namespace {

// The synchronous form of a function: what its stream has queued is over when it returns.
Result Finished(Result queued) { return queued == kSuccess ? cuStreamSynchronize(nullptr) : queued; }

template <class T>
Result Fill(DevicePtr to, T value, size_t count, Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  if (count == 0) return kSuccess;
  if (to % sizeof(T) != 0 || count > SIZE_MAX / sizeof(T) || FindBlock(to, count * sizeof(T)) == nullptr) {
    return kInvalidValue;
  }
  return Enqueue(stream, [=] {
    uint8_t* memory = Access(to, count * sizeof(T));
    if (memory == nullptr) return kIllegalAddress;
    for (size_t i = 0; i < count; ++i) std::memcpy(memory + i * sizeof(T), &value, sizeof(T));
    NoteWritten(to, count * sizeof(T));
    return kSuccess;
  });
}

// A range of managed memory, or any range where the driver takes others too: hints don't do anything here.
Result Advised(DevicePtr pointer, size_t bytes) {
  const Block* block = FindBlock(pointer, bytes);
  return bytes != 0 && block != nullptr && block->kind == BlockKind::kManaged ? kSuccess : kInvalidValue;
}

constexpr auto kNotRegistered = static_cast<Result>(713);      // CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
constexpr auto kAlreadyRegistered = static_cast<Result>(712);  // CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED

}  // namespace

Result cuMemcpy(DevicePtr to, DevicePtr from, size_t bytes) {
  return Finished(cuMemcpyAsync(to, from, bytes, nullptr));
}
Result cuMemcpyHtoDAsync(DevicePtr to, const void* from, size_t bytes, Stream stream) {
  return cuMemcpyAsync(to, reinterpret_cast<DevicePtr>(from), bytes, stream);
}
Result cuMemcpyDtoHAsync(void* to, DevicePtr from, size_t bytes, Stream stream) {
  return cuMemcpyAsync(reinterpret_cast<DevicePtr>(to), from, bytes, stream);
}
Result cuMemcpyDtoDAsync(DevicePtr to, DevicePtr from, size_t bytes, Stream stream) {
  return cuMemcpyAsync(to, from, bytes, stream);
}
Result cuMemcpy2D(const Memcpy2D* copy) { return Finished(cuMemcpy2DAsync(copy, nullptr)); }

Result cuMemsetD16Async(DevicePtr to, unsigned short value, size_t count, Stream stream) {
  return Fill(to, value, count, stream);
}
Result cuMemsetD32Async(DevicePtr to, unsigned value, size_t count, Stream stream) {
  return Fill(to, value, count, stream);
}
Result cuMemsetD16(DevicePtr to, unsigned short value, size_t count) {
  return Finished(Fill(to, value, count, nullptr));
}
Result cuMemsetD32(DevicePtr to, unsigned value, size_t count) { return Finished(Fill(to, value, count, nullptr)); }

// A word that a kernel or the host may watch. The flag leaves out the barrier before it; work runs in order here anyway.
Result cuStreamWriteValue32(Stream stream, DevicePtr to, unsigned value, unsigned flags) {
  return flags > 1 ? kInvalidValue : Fill(to, value, 1, stream);
}
Result cuStreamWriteValue64(Stream stream, DevicePtr to, unsigned long long value, unsigned flags) {
  return flags > 1 ? kInvalidValue : Fill(to, value, 1, stream);
}

Result cuMemAllocHost(void** pointer, size_t bytes) { return cuMemHostAlloc(pointer, bytes, 0); }

// The program's memory, which kernels may then use.
Result cuMemHostRegister(void* pointer, size_t bytes, unsigned /*flags*/) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  if (pointer == nullptr || bytes == 0 || InArena(address)) return kInvalidValue;
  auto& blocks = Machine::Get().blocks;
  const auto next = blocks.lower_bound(address);
  if (FindBlock(address, 0) != nullptr || (next != blocks.end() && next->first < address + bytes)) {
    return kAlreadyRegistered;
  }
  auto* const memory = static_cast<uint8_t*>(pointer);
  Block& block = blocks[address];
  block = {
      BlockKind::kHost, context->device, bytes, memory, true, false, nullptr, {address, bytes, memory, nullptr, false}};
  block.registered = true;
  return kSuccess;
}
Result cuMemHostUnregister(void* pointer) {
  Machine& machine = Machine::Get();
  const auto found = machine.blocks.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == machine.blocks.end() || !found->second.registered) return kNotRegistered;
  for (const auto& context : machine.contexts) RunAll(context.get());
  RemoveBlock(found->first);
  return kSuccess;
}
Result cuMemHostGetDevicePointer(DevicePtr* out, void* pointer, unsigned flags) {
  const Block* block = FindBlock(reinterpret_cast<DevicePtr>(pointer), 0);
  if (flags != 0 || block == nullptr || block->kind != BlockKind::kHost) return kInvalidValue;
  *out = reinterpret_cast<DevicePtr>(pointer);
  return kSuccess;
}
Result cuMemHostGetFlags(unsigned* flags, void* pointer) {
  const Block* block = FindBlock(reinterpret_cast<DevicePtr>(pointer), 0);
  if (block == nullptr || block->kind != BlockKind::kHost) return kInvalidValue;
  *flags = 3;  // portable and mapped, as all are with unified addresses
  return kSuccess;
}

Result cuMemAllocPitch(DevicePtr* out, size_t* pitch, size_t width, size_t height, unsigned element) {
  if (width == 0 || height == 0 || (element != 4 && element != 8 && element != 16)) return kInvalidValue;
  if (width > SIZE_MAX - 511 || (width + 511) / 512 * 512 > SIZE_MAX / height) return kInvalidValue;
  *pitch = (width + 511) / 512 * 512;
  return cuMemAlloc(out, *pitch * height);
}
Result cuMemAllocAsync(DevicePtr* out, size_t bytes, Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  Pool pool = nullptr;
  if (const Result result = cuDeviceGetDefaultMemPool(&pool, stream->context->device); result != kSuccess)
    return result;
  return cuMemAllocFromPoolAsync(out, bytes, pool, handle);
}
// Memory of the pool lives on.
Result cuMemPoolDestroy(Pool pool) { return Machine::Get().pools.count(pool) != 0 ? kSuccess : kInvalidValue; }
// Devices with peer access may use the memory of pools, too.
Result cuMemPoolSetAccess(Pool pool, const MemAccess* /*list*/, size_t /*count*/) {
  return Machine::Get().pools.count(pool) != 0 ? kSuccess : kInvalidValue;
}

Result cuMemGetAddressRange(DevicePtr* begin, size_t* bytes, DevicePtr pointer) {
  uintptr_t at = 0;
  const Block* block = FindBlock(pointer, 0, &at);
  if (block == nullptr) return kNotFound;
  if (begin != nullptr) *begin = at;
  if (bytes != nullptr) *bytes = block->size;
  return kSuccess;
}

Result cuMemAdvise(DevicePtr pointer, size_t bytes, int /*advice*/, MemLocation /*location*/) {
  return Advised(pointer, bytes);
}
Result cuMemPrefetchAsync(DevicePtr pointer, size_t bytes, MemLocation /*location*/, unsigned flags, Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  return flags != 0 ? kInvalidValue : Advised(pointer, bytes);
}

// An attribute that the pointer doesn't have is 0.
Result cuPointerGetAttributes(unsigned count, PointerAttribute* attributes, void** data, DevicePtr pointer) {
  for (unsigned i = 0; i < count; ++i) {
    if (cuPointerGetAttribute(data[i], attributes[i], pointer) == kSuccess) continue;
    const PointerAttribute is = attributes[i];
    const bool narrow = is == kPointerMemoryType || is == kPointerSyncMemops || is == kPointerIsManaged ||
                        is == kPointerDeviceOrdinal || is == kPointerIsIpcCapable || is == kPointerMapped;
    std::memset(data[i], is == kPointerDeviceOrdinal ? 0xff : 0, narrow ? 4 : 8);
  }
  return kSuccess;
}

}  // namespace kernpack::cuda
