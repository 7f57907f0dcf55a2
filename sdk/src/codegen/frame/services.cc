// The host's services, as generated code uses them: under a Kernpack host from its table, under a foreign one from what
// kernpack/foreign has.
#include <kernpack/device_code.h>
#include <kernpack/foreign/parallel.h>
#include <kernpack/foreign/workspace.h>

#include "codegen/frame/instance.h"
#include "ir/placeholder.h"

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
  if (!instance) return host->raise(host, kp_bytes("MemoryError"), kp_bytes("out of memory"), KpBytes{nullptr, 0});
  *instance = {host, kp_bytes(module), nullptr};
  *out = reinterpret_cast<KpInstance*>(instance);
  return 0;
}

void kp_frame_destroy(KpInstance* instance) { __builtin_free(instance); }

int kp_frame_raise(void* self, const char* kind, const char* message) {
  return kernpack::frame::RaiseText(self, kind, kp_bytes(message));
}

int kp_frame_raise_with(void* self, const char* kind, const char* message, const int64_t* values, int32_t count) {
  kernpack::Text text;
  kernpack::sdk::ir::WriteWithValues(message, values, static_cast<size_t>(count), &text);
  return kernpack::frame::RaiseText(self, kind, text.bytes());
}

int kp_frame_scratch(void* self, const KpDLDevice* device, const char* key, uint32_t flags, uint64_t element_bytes,
                     int32_t rank, const int64_t* extents, void** out) {
  uint64_t bytes = element_bytes;
  for (int32_t d = 0; d < rank; ++d) {
    if (extents[d] < 0) {
      kernpack::Text text;
      text << key << ": negative extent " << extents[d];
      return kernpack::frame::RaiseText(self, "ValueError", text.bytes());
    }
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extents[d]), &bytes) || bytes >> 48) {
      kernpack::Text text;
      text << key << ": more than 2^48 bytes";
      return kernpack::frame::RaiseText(self, "MemoryError", text.bytes());
    }
  }
  const kernpack::detail::Instance& instance = InstanceOf(self);
  const KpHost* host = instance.host;
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
