// Memory: allocations, copies, fills, variables of the device.
#include <map>
#include <mutex>

#include "runtime/runtime.h"

namespace kernpack::cuda::runtime {
namespace {

DevicePtr AsPointer(const void* pointer) { return reinterpret_cast<DevicePtr>(pointer); }

// The pool that cudaMallocAsync takes from.
Error DefaultPool(Pool* out) {
  static std::mutex mutex;
  static auto* const pools = new std::map<int, Pool>();
  int device = 0;
  if (const Error error = CurrentDevice(&device); error != kSuccess) return error;
  const std::lock_guard lock(mutex);
  Pool& pool = (*pools)[device];
  if (pool == nullptr) {
    MemPoolProps properties{};
    properties.alloc_type = kMemAllocationPinned;
    properties.location = {kMemLocationDevice, device};
    if (const Result result = Driver().cuMemPoolCreate(&pool, &properties); result != kSuccess) return Said(result);
  }
  *out = pool;
  return kSuccess;
}

Error Copy(void* to, const void* from, size_t bytes, Stream stream) {
  if (const Error error = Ready(); error != kSuccess || bytes == 0) return error;
  return Said(Driver().cuMemcpyAsync(AsPointer(to), AsPointer(from), bytes, stream));
}

Error Waited(Error error, Stream stream) {
  return error != kSuccess ? error : Said(Driver().cuStreamSynchronize(stream));
}

// Bytes of a variable, from `offset` on.
Error FindPart(const void* symbol, size_t offset, size_t count, void** out) {
  DevicePtr address = 0;
  size_t bytes = 0;
  if (const Error error = FindVariable(symbol, &address, &bytes); error != kSuccess) return error;
  if (offset > bytes || count > bytes - offset) return Said(kInvalidValue);
  *out = reinterpret_cast<void*>(address + offset);
  return kSuccess;
}

}  // namespace
}  // namespace kernpack::cuda::runtime

using namespace kernpack::cuda::runtime;
using kernpack::cuda::DevicePtr;
using kernpack::cuda::kInvalidValue;
using kernpack::cuda::kSuccess;
using kernpack::cuda::Pool;
using kernpack::cuda::Stream;

KP_RUNTIME_API Error cudaMalloc(void** out, size_t bytes) {
  if (const Error error = Ready(); error != kSuccess) return error;
  *out = nullptr;
  if (bytes == 0) return kSuccess;
  return Said(Driver().cuMemAlloc(reinterpret_cast<DevicePtr*>(out), bytes));
}
KP_RUNTIME_API Error cudaFree(void* pointer) {
  if (const Error error = Ready(); error != kSuccess || pointer == nullptr) return error;
  return Said(Driver().cuMemFree(AsPointer(pointer)));
}
KP_RUNTIME_API Error cudaMallocAsync(void** out, size_t bytes, Stream stream) {
  Pool pool = nullptr;
  if (const Error error = DefaultPool(&pool); error != kSuccess) return error;
  *out = nullptr;
  if (bytes == 0) return kSuccess;
  return Said(Driver().cuMemAllocFromPoolAsync(reinterpret_cast<DevicePtr*>(out), bytes, pool, stream));
}
KP_RUNTIME_API Error cudaFreeAsync(void* pointer, Stream stream) {
  if (const Error error = Ready(); error != kSuccess || pointer == nullptr) return error;
  return Said(Driver().cuMemFreeAsync(AsPointer(pointer), stream));
}
KP_RUNTIME_API Error cudaMallocManaged(void** out, size_t bytes, unsigned flags) {
  return Called(Driver().cuMemAllocManaged, reinterpret_cast<DevicePtr*>(out), bytes, flags);
}
KP_RUNTIME_API Error cudaHostAlloc(void** out, size_t bytes, unsigned flags) {
  return Called(Driver().cuMemHostAlloc, out, bytes, flags);
}
KP_RUNTIME_API Error cudaMallocHost(void** out, size_t bytes) { return cudaHostAlloc(out, bytes, 0); }
KP_RUNTIME_API Error cudaFreeHost(void* pointer) {
  if (const Error error = Ready(); error != kSuccess || pointer == nullptr) return error;
  return Said(Driver().cuMemFreeHost(pointer));
}
KP_RUNTIME_API Error cudaMemGetInfo(size_t* free, size_t* total) { return Called(Driver().cuMemGetInfo, free, total); }

// The kind of a copy follows from the addresses.
KP_RUNTIME_API Error cudaMemcpyAsync(void* to, const void* from, size_t bytes, int /*kind*/, Stream stream) {
  return Copy(to, from, bytes, stream);
}
KP_RUNTIME_API Error cudaMemcpy(void* to, const void* from, size_t bytes, int /*kind*/) {
  return Waited(Copy(to, from, bytes, nullptr), nullptr);
}
KP_RUNTIME_API Error cudaMemsetAsync(void* to, int value, size_t bytes, Stream stream) {
  if (const Error error = Ready(); error != kSuccess || bytes == 0) return error;
  return Said(Driver().cuMemsetD8Async(AsPointer(to), static_cast<unsigned char>(value), bytes, stream));
}
KP_RUNTIME_API Error cudaMemset(void* to, int value, size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, nullptr);
}

KP_RUNTIME_API Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                             int /*kind*/, Stream stream) {
  void* to = nullptr;
  if (const Error error = FindPart(symbol, offset, bytes, &to); error != kSuccess) return error;
  return Copy(to, from, bytes, stream);
}
KP_RUNTIME_API Error cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind) {
  return Waited(cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr), nullptr);
}
KP_RUNTIME_API Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, int /*kind*/,
                                               Stream stream) {
  void* from = nullptr;
  if (const Error error = FindPart(symbol, offset, bytes, &from); error != kSuccess) return error;
  return Copy(to, from, bytes, stream);
}
KP_RUNTIME_API Error cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind) {
  return Waited(cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, nullptr), nullptr);
}
KP_RUNTIME_API Error cudaGetSymbolAddress(void** out, const void* symbol) { return FindPart(symbol, 0, 0, out); }
KP_RUNTIME_API Error cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  DevicePtr address = 0;
  return FindVariable(symbol, &address, bytes);
}
