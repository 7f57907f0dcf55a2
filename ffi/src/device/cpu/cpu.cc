#include "device/cpu/cpu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <kernpack/host/host.h>

#include "base/bytes.h"

namespace kernpack::host {
namespace {

constexpr uint32_t kMaxAlignment = 1u << 21;  // a huge page
constexpr uint64_t kMinAlignment = 64;        // a cache line
constexpr const char* kScopes[] = {"global", nullptr};
constexpr const char* kTargetKinds[] = {"llvm", "c", nullptr};

char* At(const KpMemory& place) { return static_cast<char*>(place.handle) + place.offset; }

int Count(const KpDeviceApi*, int32_t* count, KpAny*) noexcept {
  *count = 1;
  return 0;
}

int Alloc(const KpDeviceApi*, KpDLDevice, uint64_t bytes, uint64_t alignment, KpBytes scope, void** handle) noexcept {
  if (scope.size != 0 && View(scope) != kScopes[0]) {
    return kp_raise("ValueError", "cpu: unknown memory scope '%.*s'; expected global", PrintLength(View(scope)),
                    scope.data);
  }
  if (alignment > kMaxAlignment) {
    return kp_raise("ValueError", "cpu: alignment is %llu; expected a power of two up to %u",
                    static_cast<unsigned long long>(alignment), kMaxAlignment);
  }
  if (posix_memalign(handle, std::max(alignment, kMinAlignment), std::max<uint64_t>(bytes, 1)) != 0) {
    *handle = nullptr;
    return kp_raise("MemoryError", "cpu: %llu bytes cannot be allocated", static_cast<unsigned long long>(bytes));
  }
  return 0;
}

int Free(const KpDeviceApi*, KpDLDevice, void* handle) noexcept {
  std::free(handle);
  return 0;
}

int Copy(const KpDeviceApi*, const KpMemory* from, const KpMemory* to, uint64_t bytes, void*) noexcept {
  std::memcpy(At(*to), At(*from), bytes);
  return 0;
}

int Fill(const KpDeviceApi*, const KpMemory* to, uint64_t bytes, int32_t value, void*) noexcept {
  std::memset(At(*to), value, bytes);
  return 0;
}

// Everything is done when its service returns.
int StreamSync(const KpDeviceApi*, KpDLDevice, void*) noexcept { return 0; }

constexpr KpDeviceApi kApi = {
    .struct_size = sizeof(KpDeviceApi),
    .abi_version = KP_DEVICE_ABI_VERSION,
    .flags = KP_DEVICE_ADDRESSES | KP_DEVICE_HOST_ACCESS | KP_DEVICE_STRIDED_COPY | KP_DEVICE_FORK_SAFE,
    .max_alignment = kMaxAlignment,
    .scopes = kScopes,
    .properties = nullptr,
    .context = nullptr,
    .count = Count,
    .get_attr = cpu::GetAttr,
    .get_property = nullptr,
    .set_device = nullptr,
    .get_device = nullptr,
    .alloc = Alloc,
    .free = Free,
    .alloc_async = nullptr,
    .free_async = nullptr,
    .workspace_alloc = nullptr,
    .workspace_free = nullptr,
    .copy = Copy,
    .can_copy = nullptr,
    .copy_strided = cpu::CopyStrided,
    .copy_async = nullptr,
    .fill = Fill,
    .stream_new = nullptr,
    .stream_free = nullptr,
    .stream_sync = StreamSync,
    .stream_query = nullptr,
    .stream_wait_stream = nullptr,
    .event_new = nullptr,
    .event_record = nullptr,
    .event_wait = nullptr,
    .event_sync = nullptr,
    .event_query = nullptr,
    .event_elapsed = nullptr,
    .event_free = nullptr,
    .load_code = nullptr,
    .unload_code = nullptr,
    .get_kernel = nullptr,
    .launch = nullptr,
    .match_target = nullptr,
    .trim = nullptr,
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
    .target_kinds = kTargetKinds,
    .open = Open,
    .build = nullptr,
    .load = nullptr,
    .self = nullptr,
    .spare = {},
};

}  // namespace

const KpBackend* CpuBackend() noexcept { return &kBackend; }

}  // namespace kernpack::host
