#include "backends/cuda/attributes.h"

#include <string>

#include "backends/cuda/memory.h"
#include "backends/cuda/text.h"

namespace kernpack::cuda {
namespace {

void SetInt(int64_t value, KpAny* out) {
  *out = kp_none();
  out->type_index = KP_TYPE_INT;
  out->v.v_int = value;
}

void SetBool(bool value, KpAny* out) {
  *out = kp_none();
  out->type_index = KP_TYPE_BOOL;
  out->v.v_int = value ? 1 : 0;
}

// An attribute that the driver doesn't know, or for which it returns 0, stays NONE.
int SetFromDriver(const Device& device, DeviceAttribute attribute, KpAny* out) {
  int value = 0;
  const Result result = device.driver().cuDeviceGetAttribute(&value, attribute, device.handle);
  if (result == kInvalidValue) return 0;
  if (result != kSuccess) return Fail(device, result, "cuDeviceGetAttribute", "asking for an attribute");
  if (value > 0) SetInt(value, out);
  return 0;
}

int SetName(const Device& device, KpAny* out) {
  char name[256] = {};
  KP_CUDA_TRY(device, cuDeviceGetName, (name, sizeof name, device.handle), "asking for the device's name");
  SetText(name, out);
  return 0;
}

int SetTotalMemory(const Device& device, KpAny* out) {
  size_t bytes = 0;
  KP_CUDA_TRY(device, cuDeviceTotalMem, (&bytes, device.handle), "asking for the size of memory");
  SetInt(static_cast<int64_t>(bytes), out);
  return 0;
}

int SetFreeMemory(const Device& device, KpAny* out) {
  const ActiveContext active(device);
  if (active.failed()) return -1;
  size_t free = 0;
  size_t total = 0;
  KP_CUDA_TRY(device, cuMemGetInfo, (&free, &total), "asking for free memory");
  SetInt(static_cast<int64_t>(free + device.retired.device_bytes()), out);  // which the next allocation may take
  return 0;
}

int SetPoolBytes(const Device& device, MemPoolAttribute attribute, KpAny* out) {
  if (!device.limits.memory_pools) return 0;
  uint64_t bytes = 0;
  if (PoolBytes(device, attribute, &bytes) != 0) return -1;
  SetInt(static_cast<int64_t>(bytes), out);
  return 0;
}

}  // namespace

const char* const kProperties[] = {"arch",
                                   "max_shared_memory_per_block_optin",
                                   "clusters",
                                   "memory_pools",
                                   "managed_memory",
                                   "concurrent_managed_access",
                                   "pool_reserved_bytes",
                                   "pool_used_bytes",
                                   nullptr};

int GetAttribute(const Device& device, int32_t kind, KpAny* out) {
  const Limits& limits = device.limits;
  *out = kp_none();
  switch (kind) {
    case KP_ATTR_MAX_THREADS_PER_BLOCK:
      return SetFromDriver(device, kMaxThreadsPerBlock, out);
    case KP_ATTR_WARP_SIZE:
      return SetFromDriver(device, kWarpSize, out);
    case KP_ATTR_MAX_SHARED_MEMORY_PER_BLOCK:
      return SetFromDriver(device, kMaxSharedMemoryPerBlock, out);
    case KP_ATTR_COMPUTE_VERSION:
      SetText(Format("%d.%d", limits.major, limits.minor), out);
      return 0;
    case KP_ATTR_DEVICE_NAME:
      return SetName(device, out);
    case KP_ATTR_MAX_CLOCK_RATE:
      return SetFromDriver(device, kClockRate, out);
    case KP_ATTR_MULTI_PROCESSOR_COUNT:
      return SetFromDriver(device, kMultiprocessorCount, out);
    case KP_ATTR_MAX_THREAD_DIMENSIONS:
      SetText(Format("[%d, %d, %d]", limits.max_block[0], limits.max_block[1], limits.max_block[2]), out);
      return 0;
    case KP_ATTR_MAX_REGISTERS_PER_BLOCK:
      return SetFromDriver(device, kMaxRegistersPerBlock, out);
    case KP_ATTR_API_VERSION:
      SetInt(device.driver().version, out);
      return 0;
    case KP_ATTR_L2_CACHE_SIZE_BYTES:
      return SetFromDriver(device, kL2CacheSize, out);
    case KP_ATTR_TOTAL_GLOBAL_MEMORY:
      return SetTotalMemory(device, out);
    case KP_ATTR_AVAILABLE_GLOBAL_MEMORY:
      return SetFreeMemory(device, out);
    default:
      return 0;  // GCN architecture, driver version and image pitch: the driver API has no such thing
  }
}

int GetProperty(const Device& device, std::string_view name, KpAny* out) {
  const Limits& limits = device.limits;
  *out = kp_none();
  if (name == "arch") {
    SetText(device.arch(), out);
  } else if (name == "max_shared_memory_per_block_optin") {
    SetInt(limits.max_shared_optin, out);
  } else if (name == "clusters") {
    SetBool(limits.clusters, out);
  } else if (name == "memory_pools") {
    SetBool(limits.memory_pools, out);
  } else if (name == "managed_memory") {
    SetBool(limits.managed_memory, out);
  } else if (name == "concurrent_managed_access") {
    SetBool(limits.concurrent_managed_access, out);
  } else if (name == "pool_reserved_bytes") {
    return SetPoolBytes(device, kPoolReservedCurrent, out);
  } else if (name == "pool_used_bytes") {
    return SetPoolBytes(device, kPoolUsedCurrent, out);
  }
  return 0;
}

}  // namespace kernpack::cuda
