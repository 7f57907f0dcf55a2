// Default implementations of DeviceAPI's methods.
#include <kernpack/error.h>
#include <kernpack/sdk/device_api.h>
#include <kernpack/signature/memory.h>

#include <algorithm>

#include "device_api/devices.h"
#include "target/host.h"

namespace kernpack::sdk {
namespace {

constexpr size_t kAlignment = 64;

[[noreturn]] void ThrowNoCode(Device device) { KP_THROW(RuntimeError) << device << " runs no device code"; }
[[noreturn]] void ThrowNoTiming(Device device) {
  KP_THROW(RuntimeError) << device << " has no events that measure time";
}

char g_reached;  // the only event of a device without events

}  // namespace

const KpDevices& HostDevices() {
  static const KpDevices* const devices = [] {
    const void* table = nullptr;
    Check(Host()->get_extension(Host(), kp_bytes(KP_DEVICES_EXTENSION), 1, &table));
    if (!table) KP_THROW(ImportError) << "this libkernpack has no device services; upgrade: pip install -U kernpack";
    return static_cast<const KpDevices*>(table);
  }();
  return *devices;
}

Any DeviceAPI::GetTargetProperty(Device, std::string_view) { return {}; }

size_t DeviceAPI::GetDataSize(const KpDLTensor& tensor) {
  size_t bits = size_t{tensor.dtype.bits} * tensor.dtype.lanes;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] < 0 || __builtin_mul_overflow(bits, static_cast<size_t>(tensor.shape[i]), &bits)) {
      KP_THROW(ValueError) << "GetDataSize: shape[" << i << "] = " << tensor.shape[i] << " is negative or too large";
    }
  }
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}

void* DeviceAPI::AllocDataSpace(Device device, ShapeView shape, DType dtype, std::string_view mem_scope) {
  const KpDLTensor tensor{
      nullptr, device, static_cast<int32_t>(shape.size()), dtype, const_cast<int64_t*>(shape.data()), nullptr, 0};
  return AllocDataSpace(device, GetDataSize(tensor), std::max(kAlignment, static_cast<size_t>(dtype.itemsize())),
                        mem_scope);
}

void* DeviceAPI::AllocWorkspace(Device device, size_t nbytes) {
  void* handle = nullptr;
  Check(HostDevices().workspace_alloc(device, nbytes, GetCurrentStream(device), &handle));
  return handle;
}

void DeviceAPI::FreeWorkspace(Device device, void* ptr) {
  Check(HostDevices().workspace_free(device, ptr, GetCurrentStream(device)));
}

void DeviceAPI::CopyDataFromTo(const KpDLTensor& from, const KpDLTensor& to, StreamHandle stream) {
  const size_t bytes = GetDataSize(from);
  if (bytes != GetDataSize(to)) {
    KP_THROW(ValueError) << "CopyDataFromTo: the source has " << bytes << " bytes, the target " << GetDataSize(to);
  }
  if (!signature::IsCompact(from) || !signature::IsCompact(to)) {
    KP_THROW(ValueError) << "CopyDataFromTo: expected compact tensors; kp_copy() copies strided ones";
  }
  CopyDataFromTo(from.data, from.byte_offset, to.data, to.byte_offset, bytes, from.device, to.device, stream);
}

EventHandle DeviceAPI::CopyDataFromToAsync(const KpMemory& from, const KpMemory& to, size_t nbytes,
                                           StreamHandle stream) {
  CopyDataFromTo(from.handle, from.offset, to.handle, to.offset, nbytes, from.device, to.device, stream);
  const Device device = from.device.device_type == KP_DEVICE_CPU ? to.device : from.device;
  const EventHandle event = CreateEvent(device);
  RecordEvent(device, event, stream);
  return event;
}
bool DeviceAPI::CopyStridedFromTo(const KpMemory&, const KpMemory&, const KpStridedCopy&, StreamHandle) {
  return false;
}
bool DeviceAPI::CanCopy(Device, Device) { return false; }

StreamHandle DeviceAPI::CreateStream(Device) { return nullptr; }
void DeviceAPI::FreeStream(Device, StreamHandle) {}
bool DeviceAPI::StreamQuery(Device device, StreamHandle stream) {
  StreamSync(device, stream);
  return true;
}
void DeviceAPI::SyncStreamFromTo(Device, StreamHandle, StreamHandle) {}

EventHandle DeviceAPI::CreateEvent(Device device, bool timing) {
  if (timing) ThrowNoTiming(device);
  return &g_reached;
}
void DeviceAPI::FreeEvent(Device, EventHandle) {}
void DeviceAPI::RecordEvent(Device device, EventHandle, StreamHandle stream) { StreamSync(device, stream); }
void DeviceAPI::StreamWaitEvent(Device, StreamHandle, EventHandle) {}
void DeviceAPI::EventSync(Device, EventHandle) {}
bool DeviceAPI::EventQuery(Device, EventHandle) { return true; }
double DeviceAPI::EventElapsed(Device device, EventHandle, EventHandle) { ThrowNoTiming(device); }

void DeviceAPI::SetStream(Device device, StreamHandle stream) {
  Check(HostDevices().stream_set(device, stream, nullptr));
}
StreamHandle DeviceAPI::GetCurrentStream(Device device) { return HostDevices().stream_get(device); }

void* DeviceAPI::LoadCode(Device device, std::string_view, std::string_view, std::string_view) { ThrowNoCode(device); }
void DeviceAPI::UnloadCode(Device device, void*) { ThrowNoCode(device); }
void* DeviceAPI::GetKernel(Device device, void*, std::string_view) { ThrowNoCode(device); }
void DeviceAPI::Launch(Device device, void*, const KpLaunch&, StreamHandle) { ThrowNoCode(device); }

DeviceGuard::DeviceGuard(Device device) : api_(DeviceAPI::Get(device)), previous_(device.type, api_->GetDevice()) {
  api_->SetDevice(device);
}
DeviceGuard::~DeviceGuard() {
  try {
    api_->SetDevice(previous_);
  } catch (const Error&) {
    // It was active before; the driver that refuses it now says so again at the next call.
  }
}

StreamGuard::StreamGuard(Device device, StreamHandle stream) : device_(device), previous_(nullptr) {
  Check(HostDevices().stream_set(device, stream, &previous_));
}
StreamGuard::~StreamGuard() { HostDevices().stream_set(device_, previous_, nullptr); }

}  // namespace kernpack::sdk
