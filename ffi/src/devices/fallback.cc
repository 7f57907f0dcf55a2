
#include <kernpack/host/device.h>

#include "devices/registry.h"
#include "devices/forward.h"

namespace kernpack::host::fallback {
namespace {

int Refuse(const KpDeviceApi* api, const char* what) {
  return kp_raise("RuntimeError", "devices of type %s %s", Forwarding(api).backend->name, what);
}

// Without events, an event is reached when it is recorded.
char g_reached;

}  // namespace

// Always there; the entries complete the list.
int count(const KpDeviceApi* api, int32_t*, KpAny*) noexcept { return Refuse(api, "cannot be counted"); }
int get_attr(const KpDeviceApi* api, KpDLDevice, int32_t, KpAny*) noexcept { return Refuse(api, "have no attributes"); }
int alloc(const KpDeviceApi* api, KpDLDevice, uint64_t, uint64_t, KpBytes, void**) noexcept {
  return Refuse(api, "have no memory");
}
int free(const KpDeviceApi* api, KpDLDevice, void*) noexcept { return Refuse(api, "have no memory"); }
int copy(const KpDeviceApi* api, const KpMemory*, const KpMemory*, uint64_t, void*) noexcept {
  return Refuse(api, "cannot copy");
}
int fill(const KpDeviceApi* api, const KpMemory*, uint64_t, int32_t, void*) noexcept {
  return Refuse(api, "cannot fill memory");
}
int stream_sync(const KpDeviceApi* api, KpDLDevice, void*) noexcept { return Refuse(api, "cannot be waited for"); }

int get_property(const KpDeviceApi*, KpDLDevice, KpBytes, KpAny* out) noexcept {
  *out = kp_none();
  return 0;
}

int set_device(const KpDeviceApi* api, KpDLDevice device) noexcept {
  SetActiveDevice(Forwarding(api).number, device.device_id);
  return 0;
}

int get_device(const KpDeviceApi* api, int32_t* id) noexcept {
  *id = ActiveDevice(Forwarding(api).number);
  return 0;
}

int alloc_async(const KpDeviceApi* api, KpDLDevice device, uint64_t bytes, uint64_t alignment, void*,
                void** handle) noexcept {
  return api->alloc(api, device, bytes, alignment, KpBytes{}, handle);
}

int free_async(const KpDeviceApi* api, KpDLDevice device, void* handle, void*) noexcept {
  return api->free(api, device, handle);
}

int workspace_alloc(const KpDeviceApi* api, KpDLDevice device, uint64_t bytes, void* stream, void** handle) noexcept {
  return api->alloc_async(api, device, bytes, 64, stream, handle);
}

int workspace_free(const KpDeviceApi* api, KpDLDevice device, void* handle, void* stream) noexcept {
  return api->free_async(api, device, handle, stream);
}

int can_copy(const KpDeviceApi*, KpDLDevice, KpDLDevice, int32_t* can) noexcept {
  *can = 0;
  return 0;
}

int copy_strided(const KpDeviceApi*, const KpMemory*, const KpMemory*, const KpStridedCopy*, void*,
                 int32_t* done) noexcept {
  *done = 0;
  return 0;
}

int copy_async(const KpDeviceApi* api, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream,
               void** event) noexcept {
  const KpDLDevice device = from->device.device_type == Forwarding(api).type ? from->device : to->device;
  if (api->event_new(api, device, 0, event) != 0) return -1;
  if (api->copy(api, from, to, bytes, stream) == 0 && api->event_record(api, device, *event, stream) == 0) return 0;
  KpAny error = kp_none();  // freeing may raise too, and the first error is the one that counts
  kp_error_take("copy_async", -1, &error);
  api->event_free(api, device, *event);
  kp_host()->raise_object(kp_host(), error.v.v_obj);
  kp_any_release(&error);
  *event = nullptr;
  return -1;
}

int stream_new(const KpDeviceApi*, KpDLDevice, int32_t, void** stream) noexcept {
  *stream = nullptr;
  return 0;
}

int stream_free(const KpDeviceApi*, KpDLDevice, void*) noexcept { return 0; }

int stream_query(const KpDeviceApi* api, KpDLDevice device, void* stream, int32_t* done) noexcept {
  *done = 1;
  return api->stream_sync(api, device, stream);
}

int stream_wait_stream(const KpDeviceApi*, KpDLDevice, void*, void*) noexcept { return 0; }

int event_new(const KpDeviceApi* api, KpDLDevice, int32_t timing, void** event) noexcept {
  *event = &g_reached;
  return timing != 0 ? Refuse(api, "have no events that measure time") : 0;
}
int event_record(const KpDeviceApi* api, KpDLDevice device, void*, void* stream) noexcept {
  return api->stream_sync(api, device, stream);
}
int event_wait(const KpDeviceApi*, KpDLDevice, void*, void*) noexcept { return 0; }
int event_sync(const KpDeviceApi*, KpDLDevice, void*) noexcept { return 0; }
int event_query(const KpDeviceApi*, KpDLDevice, void*, int32_t* done) noexcept {
  *done = 1;
  return 0;
}
int event_elapsed(const KpDeviceApi* api, KpDLDevice, void*, void*, double*) noexcept {
  return Refuse(api, "have no events that measure time");
}
int event_free(const KpDeviceApi*, KpDLDevice, void*) noexcept { return 0; }

int load_code(const KpDeviceApi* api, KpDLDevice, KpBytes, KpBytes, KpBytes, void**) noexcept {
  return Refuse(api, "run no device code");
}
int unload_code(const KpDeviceApi* api, KpDLDevice, void*) noexcept { return Refuse(api, "run no device code"); }
int get_kernel(const KpDeviceApi* api, KpDLDevice, void*, KpBytes, void**) noexcept {
  return Refuse(api, "run no device code");
}
int launch(const KpDeviceApi* api, KpDLDevice, void*, const KpLaunch*, void*) noexcept {
  return Refuse(api, "run no device code");
}

int trim(const KpDeviceApi*, KpDLDevice) noexcept { return 0; }

}  // namespace kernpack::host::fallback
