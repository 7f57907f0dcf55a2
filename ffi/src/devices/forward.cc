#include "devices/forward.h"

#include <cstring>
#include <utility>

#include <kernpack/host/device.h>

#include "base/fork.h"
#include "base/guard.h"
#include "devices/streams.h"

namespace kernpack::host {
namespace {

const char* TypeName(const ForwardingApi& api) { return api.backend->name; }

bool CheckId(const ForwardingApi& api, int32_t id) {
  if (id >= 0 && id < api.count) return true;
  kp_raise("ValueError", "device %s:%d does not exist; there %s %d of type %s", TypeName(api), id,
           api.count == 1 ? "is" : "are", api.count, TypeName(api));
  return false;
}

// Checks a device before the backend is entered: it must be one of the backend's devices.
bool Check(const ForwardingApi& api, KpDLDevice device) {
  if (device.device_type == api.type) return CheckId(api, device.device_id);
  kp_raise("ValueError", "expected a device of type %s, got %s:%d", TypeName(api),
           kp_device_type_name(device.device_type), device.device_id);
  return false;
}
// In a copy, other devices are for the backend to refuse.
bool Check(const ForwardingApi& api, const KpMemory* place) {
  if (place == nullptr) {
    kp_raise("ValueError", "a pointer to memory of device type %s is NULL", TypeName(api));
    return false;
  }
  return place->device.device_type != api.type || CheckId(api, place->device.device_id);
}
template <class T>
bool Check(const ForwardingApi&, const T&) {
  return true;
}

// Copies text in a result, which belongs to the backend.
int Finish(int rc, KpAny* out) { return rc != 0 ? (*out = kp_none(), rc) : OwnText(out); }
template <class T>
int Finish(int rc, const T&) {
  return rc;
}

template <auto Member, class Type = decltype(Member)>
struct Forward;
template <auto Member, class... Args>
struct Forward<Member, int (*KpDeviceApi::*)(const KpDeviceApi*, Args...)> {
  static int Call(const KpDeviceApi* table, Args... args) noexcept {
    const ForwardingApi& api = Forwarding(table);
    if (!MayEnter(api) || !(Check(api, args) && ...)) return -1;
    int rc = (api.inner->*Member)(api.inner, args...);
    ((rc = Finish(rc, args)), ...);
    return rc;
  }
};

// The host's fallback for a service, with the checks of the service.
template <auto Function, class Type = decltype(Function)>
struct Replace;
template <auto Function, class... Args>
struct Replace<Function, int (*)(const KpDeviceApi*, Args...) noexcept> {
  static int Call(const KpDeviceApi* table, Args... args) noexcept {
    const ForwardingApi& api = Forwarding(table);
    return MayEnter(api) && (Check(api, args) && ...) ? Function(table, args...) : -1;
  }
};

// Those that have more to it.
int Count(const KpDeviceApi* table, int32_t* count, KpAny* reason) noexcept {
  *count = Forwarding(table).count;
  *reason = kp_none();
  return 0;
}

int GetAttr(const KpDeviceApi* table, KpDLDevice device, int32_t kind, KpAny* out) noexcept {
  const ForwardingApi& api = Forwarding(table);
  *out = kp_none();
  if (kind == KP_ATTR_EXIST) {
    out->type_index = KP_TYPE_BOOL;
    out->v.v_int = device.device_type == api.type && device.device_id >= 0 && device.device_id < api.count;
    return 0;
  }
  if (kind < 0 || kind >= KP_DEVICE_ATTR_COUNT) {
    return kp_raise("ValueError", "device %s:%d: unknown attribute %d; expected 0 to %d (KpDeviceAttrKind)",
                    TypeName(api), device.device_id, kind, KP_DEVICE_ATTR_COUNT - 1);
  }
  return Forward<&KpDeviceApi::get_attr>::Call(table, device, kind, out);
}

int Copy(const KpDeviceApi* table, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream) noexcept {
  if (bytes == 0) return 0;
  return Forward<&KpDeviceApi::copy>::Call(table, from, to, bytes, stream);
}

// Within the processor's memory, which has one device and outlives forks: a short copy costs little more than memcpy.
int CopyOnCpu(const KpDeviceApi* table, const KpMemory* from, const KpMemory* to, uint64_t bytes,
              void* stream) noexcept {
  if (bytes == 0) return 0;
  for (const KpMemory* place : {from, to}) {
    if (place == nullptr || place->device.device_type != KP_DEVICE_CPU || place->device.device_id != 0) {
      return Copy(table, from, to, bytes, stream);
    }
  }
  std::memcpy(static_cast<char*>(to->handle) + to->offset, static_cast<const char*>(from->handle) + from->offset,
              bytes);
  return 0;
}

int CopyAsync(const KpDeviceApi* table, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream,
              void** event) noexcept {
  if (bytes == 0) return fallback::copy_async(table, from, to, bytes, stream, event);
  return Forward<&KpDeviceApi::copy_async>::Call(table, from, to, bytes, stream, event);
}

int Fill(const KpDeviceApi* table, const KpMemory* to, uint64_t bytes, int32_t value, void* stream) noexcept {
  if (bytes == 0) return 0;
  return Forward<&KpDeviceApi::fill>::Call(table, to, bytes, value, stream);
}

int CanCopy(const KpDeviceApi* table, KpDLDevice from, KpDLDevice to, int32_t* can) noexcept {
  const ForwardingApi& api = Forwarding(table);
  if (!MayEnter(api)) return -1;
  for (const KpDLDevice device : {from, to}) {
    if (device.device_type == api.type && !CheckId(api, device.device_id)) return -1;
  }
  return api.inner->can_copy(api.inner, from, to, can);
}

int StreamFree(const KpDeviceApi* table, KpDLDevice device, void* stream) noexcept {
  if (stream == nullptr) return 0;
  return Guard("stream_free", [&] {
    if (MayEnter(Forwarding(table))) ForgetStream(device, stream);
    return Forward<&KpDeviceApi::stream_free>::Call(table, device, stream);
  });
}

int Launch(const KpDeviceApi* table, KpDLDevice device, void* kernel, const KpLaunch* launch, void* stream) noexcept {
  if (launch == nullptr) return kp_raise("ValueError", "launch: the KpLaunch is NULL");
  constexpr uint32_t kSmallest = KP_LAUNCH_SIZE_V1;  // NOLINT(bugprone-sizeof-expression)
  if (launch->struct_size < kSmallest) {
    return kp_raise("ValueError",
                    "launch: expected a KpLaunch of at least %u bytes, got %u; set struct_size to sizeof(KpLaunch)",
                    kSmallest, launch->struct_size);
  }
  const uint32_t flags = KP_FIELD_OR(KpLaunch, launch, flags, 0U);
  if (flags & ~static_cast<uint32_t>(KP_LAUNCH_COOPERATIVE)) {
    return kp_raise("ValueError", "launch: flags: expected KP_LAUNCH_COOPERATIVE or 0, got 0x%x", flags);
  }
  if (flags != 0 && (table->flags & KP_DEVICE_COOPERATIVE) == 0) {
    return kp_raise("NotImplementedError",
                    "launch: flags: devices of type %s have no cooperative launches; clear KP_LAUNCH_COOPERATIVE, or "
                    "split the kernel where its blocks wait for each other",
                    TypeName(Forwarding(table)));
  }
  for (const uint32_t blocks : launch->grid) {
    if (blocks == 0) return 0;
  }
  return Forward<&KpDeviceApi::launch>::Call(table, device, kernel, launch, stream);
}

using Table = KpDeviceApi;
template <auto Member>
constexpr auto kServe = Forward<Member>::Call;
template <>
constexpr auto kServe<&Table::count> = Count;
template <>
constexpr auto kServe<&Table::get_attr> = GetAttr;
template <>
constexpr auto kServe<&Table::copy> = Copy;
template <>
constexpr auto kServe<&Table::can_copy> = CanCopy;
template <>
constexpr auto kServe<&Table::copy_async> = CopyAsync;
template <>
constexpr auto kServe<&Table::fill> = Fill;
template <>
constexpr auto kServe<&Table::stream_free> = StreamFree;
template <>
constexpr auto kServe<&Table::launch> = Launch;

// A flag that is not set means that the service is not called, even if it is there.
bool Has(const KpDeviceApi& inner, uint32_t needs, bool given) {
  return given && (needs == 0 || needs == KP_DEVICE_OPTIONAL || (inner.flags & needs) != 0);
}

}  // namespace

int OwnText(KpAny* value) {
  if (value->type_index != KP_TYPE_RAW_STR) return 0;
  const KpBytes text = kp_bytes(value->v.v_c_str);
  *value = kp_none();
  return kp_string_new(text, value);
}

bool MayEnter(const ForwardingApi& api) {
  if (api.generation == ForkGeneration() || (api.inner->flags & KP_DEVICE_FORK_SAFE)) return true;
  kp_raise("RuntimeError",
           "devices of type %s were opened by this process's parent before it forked, and cannot be used in the child; "
           "start workers with spawn or forkserver, or open devices only after the fork",
           TypeName(api));
  return false;
}

int CheckTable(const KpBackend& backend, const KpDeviceApi* table) {
  const auto fail = [&](const char* what) {
    return kp_raise("ValueError", "backend %s: its KpDeviceApi %s", backend.name, what);
  };
  if (table->abi_version >> 16 != KP_DEVICE_ABI_MAJOR) return fail("is of another major version (abi_version)");
  if (table->struct_size < KP_DEVICE_API_SIZE_V1) return fail("is smaller than version 1 (struct_size)");
  if (table->max_alignment < 64 || (table->max_alignment & (table->max_alignment - 1)) != 0) {
    return fail("has a max_alignment that isn't a power of two of at least 64");
  }
  if (table->scopes == nullptr || table->scopes[0] == nullptr) return fail("lists no memory scope");
  if ((table->flags & KP_DEVICE_HOST_ACCESS) && !(table->flags & KP_DEVICE_ADDRESSES)) {
    return fail("says KP_DEVICE_HOST_ACCESS without KP_DEVICE_ADDRESSES");
  }
  if ((table->flags & KP_DEVICE_ASYNC_COPY) && !(table->flags & KP_DEVICE_EVENTS)) {
    return fail("says KP_DEVICE_ASYNC_COPY without KP_DEVICE_EVENTS");
  }
// A backend of an older minor knows nothing of services that came after it: the host does without them.
#define KP_CHECK_SERVICE(minor, needs, name, parameters)                                           \
  if (KP_DEVICE_SERVICE_OF(table, minor, name) == nullptr &&                                       \
      (minor) <= static_cast<int>(table->abi_version & 0xffff) && (needs) != KP_DEVICE_OPTIONAL && \
      ((needs) == 0 || (table->flags & (needs)) != 0))                                             \
    return fail("lacks the service " #name);
  KP_DEVICE_SERVICES(KP_CHECK_SERVICE)
#undef KP_CHECK_SERVICE
  return 0;
}

void MakeForwarding(const KpDeviceApi* inner, ForwardingApi* api) {
  api->inner = inner;
  api->generation = ForkGeneration();
  KpDeviceApi& table = api->table;
  table.struct_size = sizeof(KpDeviceApi);
  table.abi_version = KP_DEVICE_ABI_VERSION;
  table.flags = inner->flags;
  table.max_alignment = inner->max_alignment;
  table.scopes = inner->scopes;
  table.properties = inner->properties;
  table.context = nullptr;
#define KP_FORWARD_SERVICE(minor, needs, name, parameters)                                                       \
  table.KP_SERVICE_FIELD_(minor, name) = Has(*inner, needs, KP_DEVICE_SERVICE_OF(inner, minor, name) != nullptr) \
                                             ? kServe<&KpDeviceApi::KP_SERVICE_FIELD_(minor, name)>              \
                                             : Replace<fallback::name>::Call;
  KP_DEVICE_SERVICES(KP_FORWARD_SERVICE)
#undef KP_FORWARD_SERVICE
  if (api->type == KP_DEVICE_CPU) table.copy = CopyOnCpu;
  if ((inner->flags & KP_DEVICE_PEER_COPY) == 0) table.can_copy = fallback::can_copy;  // of any two devices
}

}  // namespace kernpack::host
