/* A backend in C99: one device whose memory is the CPU's. With REHEARSAL_NEWS it has the service that the rehearsal's 1.1 adds. */
#define _POSIX_C_SOURCE 200112L
#include <kernpack/device_api.h>
#include <stdlib.h>
#include <string.h>

static int count(const KpDeviceApi* api, int32_t* out, KpAny* reason) {
  (void)api, (void)reason;
  *out = 1;
  return 0;
}

static int get_attr(const KpDeviceApi* api, KpDLDevice device, int32_t kind, KpAny* out) {
  (void)api, (void)device, (void)kind, (void)out;
  return 0;
}

static int alloc(const KpDeviceApi* api, KpDLDevice device, uint64_t bytes, uint64_t alignment, KpBytes scope,
                 void** handle) {
  (void)api, (void)device, (void)scope;
  return posix_memalign(handle, (size_t)alignment, (size_t)(bytes ? bytes : 1)) ? -1 : 0;
}

static int release(const KpDeviceApi* api, KpDLDevice device, void* handle) {
  (void)api, (void)device;
  free(handle);
  return 0;
}

static int copy(const KpDeviceApi* api, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream) {
  (void)api, (void)stream;
  memcpy((char*)to->handle + to->offset, (char*)from->handle + from->offset, (size_t)bytes);
  return 0;
}

static int fill(const KpDeviceApi* api, const KpMemory* to, uint64_t bytes, int32_t value, void* stream) {
  (void)api, (void)stream;
  memset((char*)to->handle + to->offset, value, (size_t)bytes);
  return 0;
}

static int stream_sync(const KpDeviceApi* api, KpDLDevice device, void* stream) {
  (void)api, (void)device, (void)stream;
  return 0;
}

#ifdef REHEARSAL_NEWS
static int rehearse(const KpDeviceApi* api, KpDLDevice device, int64_t value, int64_t* out) {
  (void)api, (void)device;
  *out = value + 1;
  return 0;
}
#endif

static const char* const scopes[] = {"global", NULL};
static const KpDeviceApi device_api = {.struct_size = sizeof(KpDeviceApi),
                                       .abi_version = KP_DEVICE_ABI_VERSION,
                                       .max_alignment = 256,
                                       .scopes = scopes,
                                       .count = count,
                                       .get_attr = get_attr,
                                       .alloc = alloc,
                                       .free = release,
                                       .copy = copy,
                                       .fill = fill,
#ifdef REHEARSAL_NEWS
                                       .rehearse_of_1_1 = rehearse,
#endif
                                       .stream_sync = stream_sync};

static int open(const KpHost* host, int32_t device_type, const KpDeviceApi** out, KpAny* reason) {
  (void)host, (void)device_type, (void)reason;
  *out = &device_api;
  return 0;
}

static const KpBackend backend = {.struct_size = sizeof(KpBackend),
                                  .abi_version = KP_DEVICE_ABI_VERSION,
                                  .name = "rehearsed",
#ifdef REHEARSAL_NEWS
                                  .rehearsal = "a field at the end",
#endif
                                  .open = open};

/* kp_backend_v1, kp_backend_v2: the symbol of these headers' major version */
#define QUERY_(major) kp_backend_v##major
#define QUERY(major) QUERY_(major)
KP_EXPORT_SYMBOL const KpBackend* QUERY(KP_DEVICE_ABI_MAJOR)(int32_t index);
const KpBackend* QUERY(KP_DEVICE_ABI_MAJOR)(int32_t index) { return index == 0 ? &backend : NULL; }
