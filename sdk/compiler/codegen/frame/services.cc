// The host's services, as generated code uses them: under a Kernpack host from its table, under a foreign one from what
// kernpack/foreign has.
#include <kernpack/device_code.h>
#include <kernpack/foreign/parallel.h>
#include <kernpack/foreign/workspace.h>

#include "codegen/frame/instance.h"

using kernpack::frame::InstanceOf;

namespace {

// Kernpack's host, where memory of a device comes from it although a foreign one calls: where that has set no allocator, and uses
// the device's default stream, which is the one that Kernpack's host orders it by. Else NULL.
const KpHost* KernpackInstead(const kernpack::detail::ForeignState& foreign, KpDLDevice device) {
  if (device.device_type == KP_DEVICE_CPU || (foreign.peer.get_allocator && foreign.peer.get_allocator()))
    return nullptr;
  void* stream = nullptr;
  kernpack::detail::foreign_current_stream(&foreign.table, device, &stream);
  return stream ? nullptr : kernpack::detail::kernpack_host();
}

}  // namespace

int kp_frame_create(const KpHost* host, const char* module, KpInstance** out) {
  auto* instance = static_cast<kernpack::detail::Instance*>(__builtin_malloc(sizeof(kernpack::detail::Instance)));
  if (!instance) return kp_fail(host, "MemoryError", "%s: out of memory", module);
  *instance = {host, kp_bytes(module), nullptr};
  *out = reinterpret_cast<KpInstance*>(instance);
  return 0;
}

void kp_frame_destroy(KpInstance* instance) { __builtin_free(instance); }

int kp_frame_raise(void* self, const char* kind, const char* message) {
  return kp_fail_with(InstanceOf(self).host, kind, message, nullptr, 0);
}

int kp_frame_raise_with(void* self, const char* kind, const char* message, const int64_t* values, int32_t count) {
  return kp_fail_with(InstanceOf(self).host, kind, message, values, count);
}

int kp_frame_scratch(void* self, const KpDLDevice* device, const char* key, uint32_t flags, uint64_t element_bytes,
                     int32_t rank, const int64_t* extents, void** out) {
  const kernpack::detail::Instance& instance = InstanceOf(self);
  const KpHost* host = instance.host;
  uint64_t bytes = 0;
  if (kp_bytes_of(host, key, element_bytes, rank, extents, &bytes)) return -1;
  const KpDLDevice where = device ? *device : KpDLDevice{KP_DEVICE_CPU, 0};
  const KpHost* owner = instance.foreign ? KernpackInstead(*instance.foreign, where) : host;
  if (!owner) return kernpack::detail::foreign_workspace(host, kp_bytes(key), where, bytes, flags, out);
  const KpStorageKey k = {instance.module_name, kp_bytes(key), KP_SCOPE_DEVICE, 0, where, nullptr};
  return owner->workspace(owner, &k, bytes, flags, out);
}

int kp_frame_parallel(void* self, int64_t n, int64_t grain, KpParallelBody body, void* context) {
  if (n <= 0) return 0;
  if (n <= grain) return body(context, 0, n);
  const kernpack::detail::Instance& instance = InstanceOf(self);
  const KpHost* host = instance.host;
  return instance.foreign ? kernpack::detail::foreign_parallel_for(host, n, grain, body, context)
                          : host->parallel_for(host, n, grain, body, context);
}
