// Devices of one type, behind one interface for all backends. DeviceAPI::Get returns a registered one; register your own
// with RegisterDeviceAPI (device_backend.h). Both sides may be written in C: KpDeviceApi of kernpack/device_api.h is equivalent.
//
// Methods throw kernpack::Error; its kind is the exception's name in Python. Any thread may call them.
#ifndef KERNPACK_SDK_DEVICE_API_H_
#define KERNPACK_SDK_DEVICE_API_H_

#include <kernpack/any.h>
#include <kernpack/device.h>
#include <kernpack/device_api.h>
#include <kernpack/dtype.h>
#include <kernpack/shape.h>
#include <kernpack/string.h>

#include <string>
#include <string_view>
#include <vector>

namespace kernpack::sdk {

// The values of KpDeviceAttrKind, which documents the units.
enum class DeviceAttrKind : int32_t {
  kExist = KP_ATTR_EXIST,
  kMaxThreadsPerBlock = KP_ATTR_MAX_THREADS_PER_BLOCK,
  kWarpSize = KP_ATTR_WARP_SIZE,
  kMaxSharedMemoryPerBlock = KP_ATTR_MAX_SHARED_MEMORY_PER_BLOCK,
  kComputeVersion = KP_ATTR_COMPUTE_VERSION,
  kDeviceName = KP_ATTR_DEVICE_NAME,
  kMaxClockRate = KP_ATTR_MAX_CLOCK_RATE,
  kMultiProcessorCount = KP_ATTR_MULTI_PROCESSOR_COUNT,
  kMaxThreadDimensions = KP_ATTR_MAX_THREAD_DIMENSIONS,
  kMaxRegistersPerBlock = KP_ATTR_MAX_REGISTERS_PER_BLOCK,
  kGcnArch = KP_ATTR_GCN_ARCH,
  kApiVersion = KP_ATTR_API_VERSION,
  kDriverVersion = KP_ATTR_DRIVER_VERSION,
  kL2CacheSizeBytes = KP_ATTR_L2_CACHE_SIZE_BYTES,
  kTotalGlobalMemory = KP_ATTR_TOTAL_GLOBAL_MEMORY,
  kAvailableGlobalMemory = KP_ATTR_AVAILABLE_GLOBAL_MEMORY,
  kImagePitchAlignment = KP_ATTR_IMAGE_PITCH_ALIGNMENT
};

using StreamHandle = void*;  // NULL: the device's default stream
using EventHandle = void*;

class DeviceAPI {
 public:
  // The devices of a type, opened; one object per type, valid until the process ends. If there are none: NULL with `allow_missing`,
  // else RuntimeError with the reason.
  static DeviceAPI* Get(int32_t device_type, bool allow_missing = false);
  static DeviceAPI* Get(Device device, bool allow_missing = false) { return Get(device.type, allow_missing); }

  virtual ~DeviceAPI() = default;

  // The number of devices; if 0, `why` (nullable) is set to the reason.
  virtual int32_t DeviceCount(std::string* why) = 0;
  // KpDeviceFlags. A method that needs a flag is not called without it.
  virtual uint32_t flags() const { return 0; }
  // Names of memory scopes; the first is the default.
  virtual std::vector<std::string> MemoryScopes() const { return {"global"}; }
  // The largest alignment that AllocDataSpace supports, a power of two.
  virtual uint32_t MaxAlignment() const { return 64; }

  // None if the device does not have the attribute.
  virtual Any GetAttr(Device device, DeviceAttrKind kind) = 0;
  virtual Any GetTargetProperty(Device device, std::string_view property);

  // Makes a device active for this thread.
  virtual void SetDevice(Device device) = 0;
  virtual int32_t GetDevice() = 0;

  // Memory for tensors. Returns an opaque handle, which is an address only with KP_DEVICE_ADDRESSES.
  virtual void* AllocDataSpace(Device device, size_t nbytes, size_t alignment, std::string_view mem_scope = {}) = 0;
  virtual void FreeDataSpace(Device device, void* ptr) = 0;
  // For a compact tensor; aligned for its elements.
  void* AllocDataSpace(Device device, ShapeView shape, DType dtype, std::string_view mem_scope = {});
  // Bytes of a compact tensor of that shape and dtype.
  static size_t GetDataSize(const KpDLTensor& tensor);

  // Memory for values inside an operator, copied only within the device. By default pooled by device and current stream, from
  // AllocDataSpace. Freeing in reverse order is fastest. Any thread may free.
  virtual void* AllocWorkspace(Device device, size_t nbytes);
  virtual void FreeWorkspace(Device device, void* ptr);

  // Host to device, device to host, or within a device (one of `from` and `to` may be the CPU); queued on the stream. On return,
  // host memory may be reused, and a copy to the host has arrived.
  virtual void CopyDataFromTo(const void* from, size_t from_offset, void* to, size_t to_offset, size_t nbytes,
                              Device device_from, Device device_to, StreamHandle stream) = 0;
  // Copies between two compact tensors of the same number of bytes.
  void CopyDataFromTo(const KpDLTensor& from, const KpDLTensor& to, StreamHandle stream);
  // As CopyDataFromTo, but host memory must stay unchanged until the event is reached, which the caller frees. The default
  // implementation waits for the copy.
  virtual EventHandle CopyDataFromToAsync(const KpMemory& from, const KpMemory& to, size_t nbytes, StreamHandle stream);
  // As CopyDataFromTo, for a box with gaps. False if this copy isn't supported; then nothing has happened. By default always false.
  virtual bool CopyStridedFromTo(const KpMemory& from, const KpMemory& to, const KpStridedCopy& box,
                                 StreamHandle stream);
  // Returns true if CopyDataFromTo supports this pair of devices, at least one of this type and neither the CPU.
  virtual bool CanCopy(Device from, Device to);
  virtual void Fill(Device device, void* to, size_t offset, size_t nbytes, uint8_t value, StreamHandle stream) = 0;

  // NULL if the device has only one queue.
  virtual StreamHandle CreateStream(Device device);
  virtual void FreeStream(Device device, StreamHandle stream);
  // Returns when all queued work is done.
  virtual void StreamSync(Device device, StreamHandle stream) = 0;
  virtual bool StreamQuery(Device device, StreamHandle stream);
  // Later work on `dst` waits for the work queued on `src` now.
  virtual void SyncStreamFromTo(Device device, StreamHandle src, StreamHandle dst);

  // Points in a stream; with KP_DEVICE_EVENTS. Without, recording an event waits for the stream, the event is then reached,
  // and no event measures time.
  virtual EventHandle CreateEvent(Device device, bool timing = false);
  virtual void FreeEvent(Device device, EventHandle event);  // allowed before it is reached
  virtual void RecordEvent(Device device, EventHandle event, StreamHandle stream);
  // Later work on the stream waits for the event. An event that was never recorded counts as reached.
  virtual void StreamWaitEvent(Device device, StreamHandle stream, EventHandle event);
  virtual void EventSync(Device device, EventHandle event);
  virtual bool EventQuery(Device device, EventHandle event);
  // Milliseconds between two reached events that measure time.
  virtual double EventElapsed(Device device, EventHandle begin, EventHandle end);

  // The current stream of this thread and device.
  void SetStream(Device device, StreamHandle stream);
  StreamHandle GetCurrentStream(Device device);

  // True if data + byte offset may be computed on the host.
  bool SupportsDevicePointerArithmeticsOnHost() const { return (flags() & KP_DEVICE_ADDRESSES) != 0; }

  // Device code; with KP_DEVICE_CODE. See load_code, get_kernel and launch of kernpack/device_api.h.
  virtual void* LoadCode(Device device, std::string_view image, std::string_view format, std::string_view options = {});
  virtual void UnloadCode(Device device, void* code);
  virtual void* GetKernel(Device device, void* code, std::string_view name);
  virtual void Launch(Device device, void* kernel, const KpLaunch& launch, StreamHandle stream);
};

// Makes a device active for this thread; its destructor restores the previous one.
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard();

 private:
  DeviceAPI* api_;
  Device previous_;
};

// Makes a stream current for this thread and device; its destructor restores the previous one.
class StreamGuard {
 public:
  StreamGuard(Device device, StreamHandle stream);
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  ~StreamGuard();

 private:
  Device device_;
  StreamHandle previous_;
};

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_DEVICE_API_H_
