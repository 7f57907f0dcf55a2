// Rows and boxes, memory of other devices and of the program, pools, and where an address is.
#include "driver/machine.h"
#include "runtime/runtime.h"

namespace kernpack::cuda::runtime {
namespace {

DevicePtr ToPointer(const void* pointer) { return reinterpret_cast<DevicePtr>(pointer); }

bool OfDevice(const void* pointer) {
  const std::lock_guard lock(Machine::Get().mutex);
  return FindBlock(ToPointer(pointer), 0) != nullptr;
}

// The kind of a copy follows from the addresses.
Error CopyRows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
               Stream stream) {
  if (const Error error = Ready(); error != kSuccess) return error;
  Memcpy2D copy{};
  copy.from_type = OfDevice(from) ? kMemoryTypeDevice : kMemoryTypeHost;
  copy.to_type = OfDevice(to) ? kMemoryTypeDevice : kMemoryTypeHost;
  copy.from_host = from, copy.from_device = ToPointer(from), copy.from_pitch = from_pitch;
  copy.to_host = to, copy.to_device = ToPointer(to), copy.to_pitch = to_pitch;
  copy.width = width, copy.height = height;
  return Said(Driver().cuMemcpy2DAsync(&copy, stream));
}

Error Finished(Error error) { return error != kSuccess ? error : Said(Driver().cuStreamSynchronize(nullptr)); }

// cudaPitchedPtr, cudaPos, cudaExtent, cudaMemcpy3DParms, cudaPointerAttributes.
struct Pitched {
  void* pointer;
  size_t pitch, width, height;
};
struct Extent {
  size_t width, height, depth;
};
struct Position {
  size_t x, y, z;
};
struct BoxCopy {
  void* from_array;
  Position from_at;
  Pitched from;
  void* to_array;
  Position to_at;
  Pitched to;
  Extent extent;
  int kind;
};
struct PointerFacts {
  int type, device;  // type: 0 unregistered, 1 host, 2 device, 3 managed
  void* on_device;
  void* on_host;
};

Error CopyBox(const BoxCopy* box, Stream stream) {
  if (box == nullptr || box->from_array != nullptr || box->to_array != nullptr) return Said(kNotSupported, "of arrays");
  const auto at = [](const Pitched& of, const Position& from, size_t z) {
    return static_cast<char*>(of.pointer) + ((from.z + z) * of.height + from.y) * of.pitch + from.x;
  };
  for (size_t z = 0; z < box->extent.depth; ++z) {
    const Error error = CopyRows(at(box->to, box->to_at, z), box->to.pitch, at(box->from, box->from_at, z),
                                 box->from.pitch, box->extent.width, box->extent.height, stream);
    if (error != kSuccess) return error;
  }
  return kSuccess;
}

Error FillRows(void* to, size_t pitch, int value, size_t width, size_t height, Stream stream) {
  if (const Error error = Ready(); error != kSuccess) return error;
  if (width > pitch && height > 1) return Said(kInvalidValue);
  for (size_t row = 0; row < height && width != 0; ++row) {
    const Result result =
        Driver().cuMemsetD8Async(ToPointer(to) + row * pitch, static_cast<unsigned char>(value), width, stream);
    if (result != kSuccess) return Said(result);
  }
  return kSuccess;
}

}  // namespace
}  // namespace kernpack::cuda::runtime

using namespace kernpack::cuda::runtime;
using namespace kernpack::cuda;

KP_RUNTIME_API Error cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                       size_t height, int /*kind*/, Stream stream) {
  return CopyRows(to, to_pitch, from, from_pitch, width, height, stream);
}
KP_RUNTIME_API Error cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                  size_t height, int /*kind*/) {
  return Finished(CopyRows(to, to_pitch, from, from_pitch, width, height, nullptr));
}
KP_RUNTIME_API Error cudaMemcpy3DAsync(const BoxCopy* box, Stream stream) { return CopyBox(box, stream); }
KP_RUNTIME_API Error cudaMemcpy3D(const BoxCopy* box) { return Finished(CopyBox(box, nullptr)); }
KP_RUNTIME_API Error cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, Stream stream) {
  return FillRows(to, pitch, value, width, height, stream);
}
KP_RUNTIME_API Error cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return FillRows(to, pitch, value, width, height, nullptr);
}
KP_RUNTIME_API Error cudaMemcpyPeerAsync(void* to, int /*device*/, const void* from, int /*of*/, size_t bytes,
                                         Stream stream) {
  return bytes == 0 ? kSuccess : Called(Driver().cuMemcpyAsync, ToPointer(to), ToPointer(from), bytes, stream);
}
KP_RUNTIME_API Error cudaMemcpyPeer(void* to, int device, const void* from, int of, size_t bytes) {
  return Finished(cudaMemcpyPeerAsync(to, device, from, of, bytes, nullptr));
}

KP_RUNTIME_API Error cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height) {
  *out = nullptr, *pitch = 0;
  if (width == 0 || height == 0) return Ready();
  return Called(Driver().cuMemAllocPitch, reinterpret_cast<DevicePtr*>(out), pitch, width, height, 4U);
}
KP_RUNTIME_API Error cudaMalloc3D(Pitched* out, Extent extent) {
  *out = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&out->pointer, &out->pitch, extent.width, extent.height * extent.depth);
}

KP_RUNTIME_API Error cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return Called(Driver().cuMemHostRegister, pointer, bytes, flags);
}
KP_RUNTIME_API Error cudaHostUnregister(void* pointer) { return Called(Driver().cuMemHostUnregister, pointer); }
KP_RUNTIME_API Error cudaHostGetDevicePointer(void** out, void* pointer, unsigned flags) {
  return Called(Driver().cuMemHostGetDevicePointer, reinterpret_cast<DevicePtr*>(out), pointer, flags);
}
KP_RUNTIME_API Error cudaHostGetFlags(unsigned* flags, void* pointer) {
  return Called(Driver().cuMemHostGetFlags, flags, pointer);
}

KP_RUNTIME_API Error cudaDeviceGetDefaultMemPool(Pool* pool, int device) {
  return Called(Driver().cuDeviceGetDefaultMemPool, pool, device);
}
KP_RUNTIME_API Error cudaDeviceGetMemPool(Pool* pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }
KP_RUNTIME_API Error cudaMemPoolCreate(Pool* pool, const MemPoolProps* properties) {
  return Called(Driver().cuMemPoolCreate, pool, properties);
}
KP_RUNTIME_API Error cudaMemPoolDestroy(Pool pool) { return Called(Driver().cuMemPoolDestroy, pool); }
KP_RUNTIME_API Error cudaMemPoolTrimTo(Pool pool, size_t bytes) {
  return Called(Driver().cuMemPoolTrimTo, pool, bytes);
}
KP_RUNTIME_API Error cudaMemPoolSetAttribute(Pool pool, MemPoolAttribute attribute, void* value) {
  return Called(Driver().cuMemPoolSetAttribute, pool, attribute, value);
}
KP_RUNTIME_API Error cudaMemPoolGetAttribute(Pool pool, MemPoolAttribute attribute, void* value) {
  return Called(Driver().cuMemPoolGetAttribute, pool, attribute, value);
}
KP_RUNTIME_API Error cudaMemPoolSetAccess(Pool pool, const MemAccess* list, size_t count) {
  return Called(Driver().cuMemPoolSetAccess, pool, list, count);
}
KP_RUNTIME_API Error cudaMallocFromPoolAsync(void** out, size_t bytes, Pool pool, Stream stream) {
  *out = nullptr;
  if (bytes == 0) return Ready();
  return Called(Driver().cuMemAllocFromPoolAsync, reinterpret_cast<DevicePtr*>(out), bytes, pool, stream);
}

KP_RUNTIME_API Error cudaIpcGetMemHandle(IpcHandle* handle, void* pointer) {
  return Called(Driver().cuIpcGetMemHandle, handle, ToPointer(pointer));
}
KP_RUNTIME_API Error cudaIpcOpenMemHandle(void** out, IpcHandle handle, unsigned flags) {
  return Called(Driver().cuIpcOpenMemHandle, reinterpret_cast<DevicePtr*>(out), handle, flags);
}
KP_RUNTIME_API Error cudaIpcCloseMemHandle(void* pointer) {
  return Called(Driver().cuIpcCloseMemHandle, ToPointer(pointer));
}
KP_RUNTIME_API Error cudaIpcGetEventHandle(IpcHandle* handle, Event event) {
  return Called(Driver().cuIpcGetEventHandle, handle, event);
}
KP_RUNTIME_API Error cudaIpcOpenEventHandle(Event* event, IpcHandle handle) {
  return Called(Driver().cuIpcOpenEventHandle, event, handle);
}

// Hints about managed memory. CUDA 13 has a location as a struct where 12 has a device; it isn't read, as nothing moves here.
KP_RUNTIME_API Error cudaMemAdvise(const void* pointer, size_t bytes, int advice) {
  return Called(Driver().cuMemAdvise, ToPointer(pointer), bytes, advice, MemLocation{});
}
KP_RUNTIME_API Error cudaMemAdvise_v2(const void* pointer, size_t bytes, int advice) {
  return cudaMemAdvise(pointer, bytes, advice);
}
KP_RUNTIME_API Error cudaMemPrefetchAsync(const void* pointer, size_t bytes) {
  return Called(Driver().cuMemPrefetchAsync, ToPointer(pointer), bytes, MemLocation{}, 0U, Stream{});
}
KP_RUNTIME_API Error cudaMemPrefetchAsync_v2(const void* pointer, size_t bytes) {
  return cudaMemPrefetchAsync(pointer, bytes);
}

KP_RUNTIME_API Error cudaPointerGetAttributes(PointerFacts* out, const void* pointer) {
  if (const Error error = Ready(); error != kSuccess) return error;
  if (out == nullptr) return Said(kInvalidValue);
  *out = {0, -1, nullptr, const_cast<void*>(pointer)};
  const std::lock_guard lock(Machine::Get().mutex);
  const Block* block = FindBlock(ToPointer(pointer), 0);
  if (block == nullptr) return kSuccess;
  const bool host = block->kind == BlockKind::kHost, managed = block->kind == BlockKind::kManaged;
  *out = {host      ? 1
          : managed ? 3
                    : 2,
          block->device, const_cast<void*>(pointer), host || managed ? const_cast<void*>(pointer) : nullptr};
  return kSuccess;
}
