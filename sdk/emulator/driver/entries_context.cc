// Facts and settings of devices, contexts and streams that other programs ask for, and functions of the host in streams.
#include <algorithm>
#include <cstdio>

#include "driver/machine.h"

namespace kernpack::cuda {
namespace {

bool IsThere(DeviceHandle device) { return device >= 0 && device < Machine::Get().Setting("devices"); }

constexpr auto kPeerAccessNotEnabled = static_cast<Result>(705);  // CUDA_ERROR_PEER_ACCESS_NOT_ENABLED

}  // namespace

Result cuDeviceGetUuid(Uuid* uuid, DeviceHandle device) {
  if (!IsThere(device)) return kInvalidDevice;
  *uuid = {{'e', 'm', 'u', 'l', 'a', 't', 'e', 'd'}};
  uuid->bytes[15] = static_cast<char>(device);
  return kSuccess;
}

Result cuDeviceGetPCIBusId(char* text, int size, DeviceHandle device) {
  if (!IsThere(device)) return kInvalidDevice;
  if (text == nullptr || size < 13) return kInvalidValue;
  std::snprintf(text, static_cast<size_t>(size), "0000:%02X:00.0", device + 1);
  return kSuccess;
}

Result cuDeviceGetDefaultMemPool(Pool* pool, DeviceHandle device) {
  if (!IsThere(device)) return kInvalidDevice;
  Pool& made = Machine::Get().default_pools[device];
  if (made == nullptr) {
    MemPoolProps properties{};
    properties.alloc_type = kMemAllocationPinned;
    properties.location = {kMemLocationDevice, device};
    if (const Result result = cuMemPoolCreate(&made, &properties); result != kSuccess) return result;
  }
  *pool = made;
  return kSuccess;
}
Result cuDeviceGetMemPool(Pool* pool, DeviceHandle device) { return cuDeviceGetDefaultMemPool(pool, device); }

// A primary context lives as long as the process.
Result cuDevicePrimaryCtxRelease(DeviceHandle device) { return IsThere(device) ? kSuccess : kInvalidDevice; }
Result cuDevicePrimaryCtxGetState(DeviceHandle device, unsigned* flags, int* active) {
  if (!IsThere(device)) return kInvalidDevice;
  *flags = 0;
  *active = Machine::Get().contexts[static_cast<size_t>(device)]->retained;
  return kSuccess;
}
Result cuDevicePrimaryCtxSetFlags(DeviceHandle device, unsigned /*flags*/) {
  return IsThere(device) ? kSuccess : kInvalidDevice;
}

Result cuCtxGetFlags(unsigned* flags) {
  Context context = nullptr;
  *flags = 0;
  return NeedContext(&context);
}
Result cuCtxGetApiVersion(Context /*context*/, unsigned* version) {
  *version = 3020;  // of the form of contexts, which is CUDA 3.2's
  return kSuccess;
}
Result cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return kSuccess;
}
Result cuCtxGetCacheConfig(CacheConfig* config) {
  *config = {};
  return kSuccess;
}
Result cuCtxSetCacheConfig(CacheConfig /*config*/) { return kSuccess; }  // a hint
Result cuCtxDisablePeerAccess(Context peer) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  return context->peers.erase(peer) != 0 ? kSuccess : kPeerAccessNotEnabled;
}

Result cuStreamGetPriority(Stream handle, int* priority) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  *priority = stream->priority;
  return kSuccess;
}
Result cuStreamGetFlags(Stream handle, unsigned* flags) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  *flags = stream->blocking || stream == stream->context->legacy ? 0 : kStreamNonBlocking;
  return kSuccess;
}
Result cuStreamGetCtx(Stream handle, Context* context) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  *context = stream->context;
  return kSuccess;
}
Result cuStreamGetId(Stream handle, unsigned long long* id) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  *id = reinterpret_cast<uintptr_t>(stream.get());
  return kSuccess;
}

// The function runs where its turn in the stream comes. As on a GPU, it must not call CUDA.
Result cuLaunchHostFunc(Stream handle, HostFunction function, void* data) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  if (function == nullptr) return kInvalidValue;
  return Enqueue(stream, [function, data] {
    function(data);
    return kSuccess;
  });
}
Result cuStreamAddCallback(Stream handle, StreamCallback callback, void* data, unsigned flags) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  if (callback == nullptr || flags != 0) return kInvalidValue;
  return Enqueue(stream, [handle, callback, data] {
    callback(handle, kSuccess, data);
    return kSuccess;
  });
}

Result cuEventRecordWithFlags(Event event, Stream stream, unsigned flags) {
  return flags > 1 ? kInvalidValue : cuEventRecord(event, stream);
}

// A device has one context here. A program that creates one has that, and keeps what it has in it when it destroys it.
Result cuCtxCreate(Context* context, unsigned /*flags*/, DeviceHandle device) {
  if (context == nullptr) return kInvalidValue;
  if (const Result result = cuDevicePrimaryCtxRetain(context, device); result != kSuccess) return result;
  return cuCtxPushCurrent(*context);
}
Result cuCtxCreate_v3(Context* context, void* /*affinities*/, int count, unsigned flags, DeviceHandle device) {
  return count != 0 ? kNotSupported : cuCtxCreate(context, flags, device);
}
Result cuCtxCreate_v4(Context* context, void* parameters, unsigned flags, DeviceHandle device) {
  return parameters != nullptr ? kNotSupported : cuCtxCreate(context, flags, device);
}
Result cuCtxDestroy(Context context) {
  const auto& contexts = Machine::Get().contexts;
  if (std::none_of(contexts.begin(), contexts.end(), [&](const auto& each) { return each.get() == context; }))
    return kInvalidContext;
  const Result result = RunAll(context);
  if (!ContextStack().empty() && ContextStack().back() == context) ContextStack().pop_back();
  return result;
}

Result cuDeviceComputeCapability(int* major, int* minor, DeviceHandle device) {
  if (!IsThere(device)) return kInvalidDevice;
  if (major == nullptr || minor == nullptr) return kInvalidValue;
  const int arch = Machine::Get().Arch(device);
  *major = arch / 10, *minor = arch % 10;
  return kSuccess;
}
Result cuDeviceGetByPCIBusId(DeviceHandle* device, const char* text) {
  if (device == nullptr || text == nullptr) return kInvalidValue;
  unsigned domain = 0, bus = 0, slot = 0;
  if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) < 3 || domain != 0 || slot != 0) return kInvalidDevice;
  const int wanted = static_cast<int>(bus) - 1;
  if (!IsThere(wanted)) return kInvalidDevice;
  *device = wanted;
  return kSuccess;
}

Result cuProfilerStart() { return kSuccess; }
Result cuProfilerStop() { return kSuccess; }

}  // namespace kernpack::cuda
