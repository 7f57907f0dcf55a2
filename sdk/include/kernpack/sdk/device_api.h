// Devices of one type, behind one interface for all backends. DeviceAPI::Get gives what is registered; a class of one's own is
// registered with RegisterDeviceAPI (device_backend.h). Either side may be C: KpDeviceApi of kernpack/device_api.h is the same.
//
// Every method throws kernpack::Error with the kind that callers in Python see. Any thread.
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

// Values as in KpDeviceAttrKind, where the units are.
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
  // The devices of a type, opened; one object per type, for ever. Where there are none: NULL when `allow_missing`, else
  // RuntimeError with the reason.
  static DeviceAPI* Get(int32_t device_type, bool allow_missing = false);
  static DeviceAPI* Get(Device device, bool allow_missing = false) { return Get(device.type, allow_missing); }

  virtual ~DeviceAPI() = default;

  // How many there are; with none, `why` (nullable) says why.
  virtual int32_t DeviceCount(std::string* why) = 0;
  // KpDeviceFlags. A method that needs a flag is not called without it.
  virtual uint32_t flags() const { return 0; }
  // Names of memory scopes; the first is the default.
  virtual std::vector<std::string> MemoryScopes() const { return {"global"}; }
  // The largest that AllocDataSpace honours, a power of two.
  virtual uint32_t MaxAlignment() const { return 64; }

  // None for what the device does not have.
  virtual Any GetAttr(Device device, DeviceAttrKind kind) = 0;
  virtual Any GetTargetProperty(Device device, std::string_view property);

  // Makes a device active for this thread.
  virtual void SetDevice(Device device) = 0;
  virtual int32_t GetDevice() = 0;

  // Memory that tensors live in. An opaque handle, which is an address only with KP_DEVICE_ADDRESSES.
  virtual void* AllocDataSpace(Device device, size_t nbytes, size_t alignment, std::string_view mem_scope = {}) = 0;
  virtual void FreeDataSpace(Device device, void* ptr) = 0;
  // For a compact tensor; aligned for its elements.
  void* AllocDataSpace(Device device, ShapeView shape, DType dtype, std::string_view mem_scope = {});
  // Bytes of a compact tensor of that shape and dtype.
  static size_t GetDataSize(const KpDLTensor& tensor);

  // Memory for values inside an operator, copied only within the device. By default pooled by device and current stream, over
  // AllocDataSpace; frees in reverse order are the fastest, any thread may free.
  virtual void* AllocWorkspace(Device device, size_t nbytes);
  virtual void FreeWorkspace(Device device, void* ptr);

  // Host to device, device to host, or within a device (one of `from` and `to` may be the CPU); queued on the stream. Host memory
  // is free for reuse on return, and has its data.
  virtual void CopyDataFromTo(const void* from, size_t from_offset, void* to, size_t to_offset, size_t nbytes,
                              Device device_from, Device device_to, StreamHandle stream) = 0;
  // Between two compact tensors of as many bytes.
  void CopyDataFromTo(const KpDLTensor& from, const KpDLTensor& to, StreamHandle stream);
  // As CopyDataFromTo, but host memory must stay as it is until the event, the caller's to free, is reached. By default a copy
  // that is waited for.
  virtual EventHandle CopyDataFromToAsync(const KpMemory& from, const KpMemory& to, size_t nbytes, StreamHandle stream);
  // As CopyDataFromTo, of a box with gaps. False when it cannot do this one, and nothing happened; by default it can do none.
  virtual bool CopyStridedFromTo(const KpMemory& from, const KpMemory& to, const KpStridedCopy& box,
                                 StreamHandle stream);
  // Whether CopyDataFromTo takes this pair of two devices, at least one of them of this type and none the CPU.
  virtual bool CanCopy(Device from, Device to);
  virtual void Fill(Device device, void* to, size_t offset, size_t nbytes, uint8_t value, StreamHandle stream) = 0;

  // NULL where the device has one queue.
  virtual StreamHandle CreateStream(Device device);
  virtual void FreeStream(Device device, StreamHandle stream);
  // Returns when what was queued is done.
  virtual void StreamSync(Device device, StreamHandle stream) = 0;
  virtual bool StreamQuery(Device device, StreamHandle stream);
  // Later work on `dst` waits for what is queued on `src` now.
  virtual void SyncStreamFromTo(Device device, StreamHandle src, StreamHandle dst);

  // Points in a stream; with KP_DEVICE_EVENTS. Without, an event is reached when it is recorded, which waits for the stream, and
  // none measures time.
  virtual EventHandle CreateEvent(Device device, bool timing = false);
  virtual void FreeEvent(Device device, EventHandle event);  // also before it is reached
  virtual void RecordEvent(Device device, EventHandle event, StreamHandle stream);
  // Later work on the stream waits for the event. One that was never recorded is reached.
  virtual void StreamWaitEvent(Device device, StreamHandle stream, EventHandle event);
  virtual void EventSync(Device device, EventHandle event);
  virtual bool EventQuery(Device device, EventHandle event);
  // Milliseconds between two reached events that measure time.
  virtual double EventElapsed(Device device, EventHandle begin, EventHandle end);

  // The current stream of this thread and device.
  void SetStream(Device device, StreamHandle stream);
  StreamHandle GetCurrentStream(Device device);

  // Whether data + byte offset may be formed on the host.
  bool SupportsDevicePointerArithmeticsOnHost() const { return (flags() & KP_DEVICE_ADDRESSES) != 0; }

  // Device code; with KP_DEVICE_CODE. See load_code, get_kernel and launch of kernpack/device_api.h.
  virtual void* LoadCode(Device device, std::string_view image, std::string_view format, std::string_view options = {});
  virtual void UnloadCode(Device device, void* code);
  virtual void* GetKernel(Device device, void* code, std::string_view name);
  virtual void Launch(Device device, void* kernel, const KpLaunch& launch, StreamHandle stream);
};

// Makes a device active for this thread, and the one before it active again.
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

// Makes a stream current for this thread and device, and the one before it current again.
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
