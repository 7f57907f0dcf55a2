#include "devices/cpu/cpu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "shared/target_kinds.h"
#include "base/os/memory.h"

namespace kernpack::host {
namespace {

constexpr uint32_t kMaxAlignment = 1u << 21;  // a huge page
constexpr uint64_t kMinAlignment = 64;        // a cache line
constexpr const char* kScopes[] = {"global", nullptr};

char* At(const KpMemory& place) { return static_cast<char*>(place.handle) + place.offset; }

int CpuCount(const KpDeviceApi*, int32_t* count, KpAny*) noexcept {
  *count = 1;
  return 0;
}

int CpuAlloc(const KpDeviceApi*, KpDLDevice, uint64_t bytes, uint64_t alignment, KpBytes scope,
             void** handle) noexcept {
  if (scope.size != 0 && View(scope) != kScopes[0]) {
    return kp_raise("ValueError", "cpu: unknown memory scope '%.*s'; expected global", PrintLength(View(scope)),
                    scope.data);
  }
  if (alignment > kMaxAlignment) {
    return kp_raise("ValueError", "cpu: alignment is %llu; expected a power of two up to %u",
                    static_cast<unsigned long long>(alignment), kMaxAlignment);
  }
  *handle = os::Allocate(std::max<uint64_t>(bytes, 1), std::max(alignment, kMinAlignment));
  if (*handle == nullptr) {
    return kp_raise("MemoryError", "cpu: %llu bytes cannot be allocated", static_cast<unsigned long long>(bytes));
  }
  return 0;
}

int CpuFree(const KpDeviceApi*, KpDLDevice, void* handle) noexcept {
  os::Free(handle);
  return 0;
}

int CpuCopy(const KpDeviceApi*, const KpMemory* from, const KpMemory* to, uint64_t bytes, void*) noexcept {
  std::memcpy(At(*to), At(*from), bytes);
  return 0;
}

int CpuFill(const KpDeviceApi*, const KpMemory* to, uint64_t bytes, int32_t value, void*) noexcept {
  std::memset(At(*to), value, bytes);
  return 0;
}

// Everything is done when its service returns.
int CpuStreamSync(const KpDeviceApi*, KpDLDevice, void*) noexcept { return 0; }

constexpr KpDeviceApi kApi = {
    .struct_size = sizeof(KpDeviceApi),
    .abi_version = KP_DEVICE_ABI_VERSION,
    .flags = KP_DEVICE_ADDRESSES | KP_DEVICE_HOST_ACCESS | KP_DEVICE_STRIDED_COPY | KP_DEVICE_FORK_SAFE,
    .max_alignment = kMaxAlignment,
    .scopes = kScopes,
    .count = CpuCount,
    .get_attr = cpu::GetAttr,
    .alloc = CpuAlloc,
    .free = CpuFree,
    .copy = CpuCopy,
    .copy_strided = cpu::CopyStrided,
    .fill = CpuFill,
    .stream_sync = CpuStreamSync,
};

int Open(const KpHost*, int32_t, const KpDeviceApi** out, KpAny*) noexcept {
  *out = &kApi;
  return 0;
}

constexpr KpBackend kBackend = {
    .struct_size = sizeof(KpBackend),
    .abi_version = KP_DEVICE_ABI_VERSION,
    .name = "cpu",
    .device_type = KP_DEVICE_CPU,
    .min_host_abi = 0,
    .target_kinds = kCpuKinds,
    .open = Open,
    .spare = {},
};

}  // namespace

const KpBackend* CpuBackend() noexcept { return &kBackend; }

}  // namespace kernpack::host
