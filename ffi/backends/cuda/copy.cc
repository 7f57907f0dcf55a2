#include "backends/cuda/copy.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "backends/cuda/capture.h"
#include "backends/cuda/stream.h"
#include "backends/cuda/text.h"

namespace kernpack::cuda {
namespace {

// Pinned memory up to this size is copied aside rather than waited for: what the driver itself does with pageable memory.
constexpr uint64_t kStageBytes = 64 << 10;

DevicePtr Address(const KpMemory& memory) { return reinterpret_cast<uintptr_t>(memory.handle) + memory.offset; }

bool IsHost(KpDLDevice device) {
  return device.device_type == KP_DEVICE_CPU || device.device_type == KP_DEVICE_CUDA_HOST;
}

// True if the driver knows the host memory as pinned (or managed), whoever allocated it. Call within an ActiveContext.
bool IsPinned(const Device& device, const KpMemory& memory) {
  if (memory.device.device_type == KP_DEVICE_CUDA_HOST) return true;
  unsigned type = 0;  // an address that the driver does not know is an error, and so pageable
  return device.driver().cuPointerGetAttribute(&type, kPointerMemoryType, Address(memory)) == kSuccess && type != 0;
}

bool AcrossDevices(const KpMemory& from, const KpMemory& to) {
  return from.device.device_type == KP_DEVICE_CUDA && to.device.device_type == KP_DEVICE_CUDA &&
         from.device.device_id != to.device.device_id;
}

int CopyToPeer(const Device& device, const KpMemory& from, const KpMemory& to, uint64_t bytes, Stream stream) {
  const Device* source = device.backend.Find(from.device.device_id);
  const Device* target = device.backend.Find(to.device.device_id);
  if (source == nullptr || target == nullptr) return -1;
  Context contexts[2] = {};
  const Device* ends[2] = {source, target};
  for (int i = 0; i < 2; ++i) {
    if (const Result result = ends[i]->RetainContext(&contexts[i]); result != kSuccess) {
      return Fail(*ends[i], result, "cuDevicePrimaryCtxRetain", "copying between devices");
    }
  }
  const bool from_here = &device == source;
  device.EnablePeer(from_here ? *target : *source, from_here ? contexts[1] : contexts[0]);
  KP_CUDA_TRY(device, cuMemcpyPeerAsync, (Address(to), contexts[1], Address(from), contexts[0], bytes, stream),
              Format("copying %llu bytes from %s to %s", static_cast<unsigned long long>(bytes), source->name().c_str(),
                     target->name().c_str()));
  return 0;
}

int Queue(const Device& device, const KpMemory& from, const KpMemory& to, uint64_t bytes, Stream stream) {
  if (AcrossDevices(from, to)) return CopyToPeer(device, from, to, bytes, stream);
  KP_CUDA_TRY(device, cuMemcpyAsync, (Address(to), Address(from), bytes, stream),
              Format("copying %llu bytes", static_cast<unsigned long long>(bytes)));
  return 0;
}

int RefuseCapturedHostCopy(const Device& device, Stream stream) {
  return RefuseCapture(
      device, stream, "a copy from or to host memory",
      "the graph would touch that memory later, when it runs: copy outside the capture, or with copy_async "
      "from pinned memory that stays as it is");
}

int Wait(const Device& device, Stream stream) {
  KP_CUDA_TRY(device, cuStreamSynchronize, (stream), "waiting for a copy");
  return 0;
}

// One pitched copy that stands for two dimensions of a box.
struct Plane {
  uint64_t width;  // bytes of a row
  int64_t rows;
  int64_t from_pitch;
  int64_t to_pitch;
  int32_t outer;  // dimensions around it
};

// More calls than this are slower than packing on the host.
constexpr int64_t kMostPlanes = 256;

bool PlanPlane(const Device& device, const KpStridedCopy& box, Plane* out) {
  int32_t dims = box.ndim;
  Plane plane{box.element_bytes, 1, 0, 0, 0};
  if (box.from_strides[dims - 1] == box.element_bytes && box.to_strides[dims - 1] == box.element_bytes) {
    plane.width *= static_cast<uint64_t>(box.shape[--dims]);
  }
  if (dims > 0) {
    --dims;
    plane.rows = box.shape[dims];
    plane.from_pitch = box.from_strides[dims];
    plane.to_pitch = box.to_strides[dims];
  } else {
    plane.from_pitch = plane.to_pitch = static_cast<int64_t>(plane.width);
  }
  plane.outer = dims;
  const auto width = static_cast<int64_t>(plane.width);
  if (plane.rows == 1) plane.from_pitch = plane.to_pitch = width;
  if (plane.from_pitch < width || plane.to_pitch < width) return false;  // backwards, or rows that overlap
  if (std::max(plane.from_pitch, plane.to_pitch) > device.limits.max_pitch) return false;
  int64_t planes = 1;
  for (int32_t d = 0; d < dims; ++d) {
    if (box.shape[d] > kMostPlanes) return false;
    planes *= box.shape[d];
    if (planes > kMostPlanes) return false;
  }
  *out = plane;
  return true;
}

Memcpy2D PitchedCopy(const Plane& plane, const KpMemory& from, const KpMemory& to) {
  Memcpy2D copy{};
  copy.from_type = from.device.device_type == KP_DEVICE_CPU ? kMemoryTypeHost : kMemoryTypeUnified;
  copy.to_type = to.device.device_type == KP_DEVICE_CPU ? kMemoryTypeHost : kMemoryTypeUnified;
  copy.from_pitch = static_cast<size_t>(plane.from_pitch);
  copy.to_pitch = static_cast<size_t>(plane.to_pitch);
  copy.width = plane.width;
  copy.height = static_cast<size_t>(plane.rows);
  return copy;
}

int QueuePlane(const Device& device, Memcpy2D copy, DevicePtr from, DevicePtr to, Stream stream) {
  if (copy.from_type == kMemoryTypeHost) copy.from_host = reinterpret_cast<const void*>(from);
  if (copy.to_type == kMemoryTypeHost) copy.to_host = reinterpret_cast<void*>(to);
  if (copy.from_type != kMemoryTypeHost) copy.from_device = from;
  if (copy.to_type != kMemoryTypeHost) copy.to_device = to;
  KP_CUDA_TRY(device, cuMemcpy2DAsync, (&copy, stream),
              Format("copying %zu rows of %zu bytes", copy.height, copy.width));
  return 0;
}

}  // namespace

int Copy(const Device& device, const KpMemory& from, const KpMemory& to, uint64_t bytes, Stream stream) {
  if (bytes == 0) return 0;
  const ActiveContext active(device);
  if (active.failed()) return -1;
  const bool from_host = IsHost(from.device);
  const bool to_host = IsHost(to.device);
  if ((from_host || to_host) && RefuseCapturedHostCopy(device, stream) != 0) return -1;
  const bool pinned = from_host && IsPinned(device, from);
  if (pinned && !to_host && bytes <= kStageBytes) {
    // The driver has read pageable memory when it returns.
    const std::unique_ptr<char[]> aside(new char[bytes]);
    std::memcpy(aside.get(), reinterpret_cast<const void*>(Address(from)), bytes);
    return Queue(device, KpMemory{aside.get(), 0, {KP_DEVICE_CPU, 0}}, to, bytes, stream);
  }
  if (Queue(device, from, to, bytes, stream) != 0) return -1;
  return to_host || pinned ? Wait(device, stream) : 0;
}

int CopyStrided(const Device& device, const KpMemory& from, const KpMemory& to, const KpStridedCopy& box, Stream stream,
                int32_t* done) {
  *done = 0;
  Plane plane{};
  if (AcrossDevices(from, to) || !PlanPlane(device, box, &plane)) return 0;
  const ActiveContext active(device);
  if (active.failed()) return -1;
  const bool on_host = IsHost(from.device) || IsHost(to.device);
  if (on_host && RefuseCapturedHostCopy(device, stream) != 0) return -1;
  const Memcpy2D copy = PitchedCopy(plane, from, to);
  int64_t index[64] = {};
  for (bool more = true; more;) {
    int64_t from_offset = 0;
    int64_t to_offset = 0;
    for (int32_t d = 0; d < plane.outer; ++d) {
      from_offset += index[d] * box.from_strides[d];
      to_offset += index[d] * box.to_strides[d];
    }
    if (QueuePlane(device, copy, Address(from) + static_cast<DevicePtr>(from_offset),
                   Address(to) + static_cast<DevicePtr>(to_offset), stream) != 0) {
      return -1;
    }
    int32_t d = plane.outer - 1;
    while (d >= 0 && ++index[d] == box.shape[d]) index[d--] = 0;
    more = d >= 0;
  }
  *done = 1;
  return on_host ? Wait(device, stream) : 0;
}

int CopyAsync(const Device& device, const KpMemory& from, const KpMemory& to, uint64_t bytes, Stream stream,
              Event* event) {
  const ActiveContext active(device);
  if (active.failed()) return -1;
  Event made = nullptr;
  if (NewEvent(device, false, &made) != 0) return -1;
  if ((bytes != 0 && Queue(device, from, to, bytes, stream) != 0) || RecordEvent(device, made, stream) != 0) {
    static_cast<void>(device.driver().cuEventDestroy(made));
    return -1;
  }
  *event = made;
  return 0;
}

int Fill(const Device& device, const KpMemory& to, uint64_t bytes, unsigned char value, Stream stream) {
  if (bytes == 0) return 0;
  const ActiveContext active(device);
  if (active.failed()) return -1;
  KP_CUDA_TRY(device, cuMemsetD8Async, (Address(to), value, bytes, stream),
              Format("filling %llu bytes", static_cast<unsigned long long>(bytes)));
  return 0;
}

}  // namespace kernpack::cuda
