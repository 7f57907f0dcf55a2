// Workspaces under a foreign host: one for each key, device and stream (on the CPU: thread), grown and never freed.
#ifndef KERNPACK_FOREIGN_WORKSPACE_H_
#define KERNPACK_FOREIGN_WORKSPACE_H_

#include <kernpack/foreign/storage.h>

KP_NAMESPACE_BEGIN
namespace detail {

// A block that is never freed. NULL with an error raised.
KP_COLD inline void* foreign_block(const KpHost* host, KpDLDevice device, uint64_t bytes, uint32_t flags) {
  const bool zeroed = (flags & KP_WORKSPACE_ZEROED) != 0;
  if (zeroed && device.device_type != KP_DEVICE_CPU) {
    foreign_missing(host, "a zeroed workspace on this device");
    return nullptr;
  }
  int64_t shape = static_cast<int64_t>(bytes);
  const KpDLTensor prototype = {nullptr, device, 1, u8, &shape, nullptr, 0};
  KpAny tensor = kp_none();
  const int rc = device.device_type == KP_DEVICE_CPU ? foreign_cpu_alloc(host, &prototype, &tensor)
                                                     : foreign_tensor_alloc(host, &prototype, &tensor);
  if (rc) return nullptr;
  const KpDLTensor* t = kp_any_tensor(&tensor);  // the reference is never released
  void* data = static_cast<char*>(t->data) + t->byte_offset;
  if (zeroed) __builtin_memset(data, 0, bytes);
  return data;
}

// See KpHost::workspace. An outgrown block stays, since a kernel may still hold it; sizes double, so little is lost.
inline int foreign_workspace(const KpHost* host, KpBytes name, KpDLDevice device, uint64_t bytes, uint32_t flags,
                             void** out_data) {
  ForeignState& state = ForeignState::of(host);
  KpStorageKey key = {{nullptr, 0}, name, KP_SCOPE_STREAM, 1, device, nullptr};
  if (device.device_type == KP_DEVICE_CPU)
    key.stream = reinterpret_cast<void*>(thread_identity());
  else
    foreign_current_stream(host, device, &key.stream);
  uint64_t wanted = bytes < 256 ? 256 : bytes;
  {
    ForeignLock lock(&state.lock);
    const StoredValue* v = stored_value(state, key, false);
    if (v && v->bytes >= bytes) {
      *out_data = v->value.v.v_ptr;
      return 0;
    }
    if (v && wanted < 2 * v->bytes) wanted = 2 * v->bytes;
  }
  void* data = foreign_block(host, device, wanted, flags);
  if (!data) return -1;
  ForeignLock lock(&state.lock);
  StoredValue* v = stored_value(state, key, true);
  if (!v) return foreign_fail(host, "MemoryError", "workspace: out of memory");
  v->value.type_index = KP_TYPE_OPAQUE_PTR;
  v->value.v.v_ptr = data;
  v->bytes = wanted;
  *out_data = data;
  return 0;
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_FOREIGN_WORKSPACE_H_
