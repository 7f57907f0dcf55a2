// The host table behind the __tvm_ffi_ aliases: services as a host of the TVM FFI ABI offers them. Storage, workspaces and
// threads are not in it: kernpack/storage.h and kernpack/parallel.h bring their own where a module uses them.
#ifndef KERNPACK_FOREIGN_HOST_H_
#define KERNPACK_FOREIGN_HOST_H_

#include <kernpack/call.h>
#include <kernpack/dtype.h>
#include <kernpack/foreign/error_object.h>
#include <kernpack/foreign/lock.h>
#include <kernpack/foreign/peer.h>

KP_NAMESPACE_BEGIN
namespace detail {

struct StoredValue;  // foreign/storage.h

// One per module; made by the first alias call, never freed.
struct ForeignState {
  KpHost table;  // first: a service finds the rest behind its `host` argument
  Peer peer;
  KpForeignMutex lock;  // guards `stored` and what it leads to
  ForeignCondition made;  // a storage factory has ended
  StoredValue* stored;

  static ForeignState& of(const KpHost* host) { return *reinterpret_cast<ForeignState*>(const_cast<KpHost*>(host)); }
};

KP_COLD inline int foreign_raise_object(const KpHost* host, KpObject* error) {
  Peer& peer = ForeignState::of(host).peer;
  if (!peer.set_raised) peer.find();
  if (peer.set_raised) peer.set_raised(error);
  return -1;
}

KP_COLD inline int foreign_raise(const KpHost* host, KpBytes kind, KpBytes message, KpBytes backtrace) {
  KpErrorObject* e = new_error(kind, message, backtrace);
  if (!e) return -1;  // out of memory: the caller sees a failure without an error
  foreign_raise_object(host, &e->header);
  kp_release(&e->header);
  return -1;
}

KP_COLD inline int foreign_fail(const KpHost* host, const char* kind, const char* message) {
  return foreign_raise(host, kp_bytes(kind), kp_bytes(message), KpBytes{nullptr, 0});
}

KP_COLD inline int foreign_take_error(const KpHost* host, KpAny* out) {
  const Peer& peer = ForeignState::of(host).peer;
  KpObject* error = nullptr;
  if (peer.move_raised) peer.move_raised(&error);
  *out = kp_none();
  if (!error) return 0;
  out->type_index = error->type_index;
  out->v.v_obj = error;
  return 0;
}

// A CPU tensor in one block: body, shape, strides, data aligned to 256 bytes.
KP_COLD inline int foreign_cpu_alloc(const KpHost* host, const KpDLTensor* prototype, KpAny* out) {
  constexpr uint64_t kAlign = 256;
  const size_t n = static_cast<size_t>(prototype->ndim);
  const DType dtype = prototype->dtype;
  uint64_t bits = static_cast<uint64_t>(dtype.bits) * dtype.lanes;
  for (size_t d = 0; d < n; ++d) {
    if (prototype->shape[d] < 0 || __builtin_mul_overflow(bits, static_cast<uint64_t>(prototype->shape[d]), &bits) ||
        bits > (static_cast<uint64_t>(1) << 62))
      return foreign_fail(host, "ValueError", "kp::Tensor::Empty: a dimension is negative, or the tensor is too large");
  }
  const size_t behind = 2 * n * sizeof(int64_t) + (bits + 7) / 8 + kAlign;
  KpTensorObject* t = new_object<KpTensorObject>(std::nothrow, KP_TYPE_TENSOR, behind);
  if (!t) return foreign_fail(host, "MemoryError", "kp::Tensor::Empty: out of memory");
  int64_t* shape = reinterpret_cast<int64_t*>(t + 1);
  for (size_t d = 0; d < n; ++d) shape[d] = prototype->shape[d];
  kp_row_major_strides(prototype->ndim, shape, shape + n);
  const uintptr_t end = reinterpret_cast<uintptr_t>(shape + 2 * n);
  t->tensor = *prototype;
  t->tensor.data = reinterpret_cast<void*>((end + kAlign - 1) & ~(kAlign - 1));
  t->tensor.shape = shape;
  t->tensor.strides = shape + n;
  t->tensor.byte_offset = 0;
  out->type_index = KP_TYPE_TENSOR;
  out->v.v_obj = &t->header;
  return 0;
}

KP_COLD inline int foreign_tensor_alloc(const KpHost* host, const KpDLTensor* prototype, KpAny* out) {
  const Peer& peer = ForeignState::of(host).peer;
  *out = kp_none();
  if (peer.tensor_alloc && peer.get_allocator && peer.get_allocator()) {
    KpObject* tensor = nullptr;
    if (peer.tensor_alloc(const_cast<KpDLTensor*>(prototype), &tensor)) return -1;
    out->type_index = KP_TYPE_TENSOR;
    out->v.v_obj = tensor;
    return 0;
  }
  if (prototype->device.device_type == KP_DEVICE_CPU) return foreign_cpu_alloc(host, prototype, out);
  return foreign_fail(
      host, "RuntimeError",
      "kp::Tensor::Empty: this caller has set no tensor allocator for the device; pass a tensor of a framework "
      "that has one, or load the module with Kernpack");
}

inline int foreign_current_stream(const KpHost* host, KpDLDevice device, void** out) {
  const Peer& peer = ForeignState::of(host).peer;
  *out = peer.get_stream && device.device_type != KP_DEVICE_CPU ? peer.get_stream(device.device_type, device.device_id)
                                                                : nullptr;
  return 0;
}

KP_COLD inline int foreign_missing(const KpHost* host, const char* what) {
  Text text;
  text << what << " is not available: the module was loaded through the TVM FFI ABI; load it with Kernpack instead";
  return foreign_raise(host, kp_bytes("RuntimeError"), text.bytes(), KpBytes{nullptr, 0});
}

KP_COLD inline int foreign_global_get(const KpHost* host, KpBytes name, KpAny* out) {
  const Peer& peer = ForeignState::of(host).peer;
  *out = kp_none();
  if (!peer.get_global) return foreign_missing(host, "the table of global functions");
  KpObject* function = nullptr;
  if (peer.get_global(&name, &function)) return -1;
  if (!function) return 0;
  out->type_index = KP_TYPE_FUNCTION;
  out->v.v_obj = function;
  return 0;
}

KP_COLD inline int foreign_global_set(const KpHost* host, KpBytes name, KpObject* function, int32_t replace) {
  const Peer& peer = ForeignState::of(host).peer;
  if (!peer.set_global) return foreign_missing(host, "the table of global functions");
  return peer.set_global(&name, function, replace) ? -1 : 0;
}

KP_COLD inline int foreign_type_index(const KpHost* host, KpBytes key, int32_t* out) {
  const Peer& peer = ForeignState::of(host).peer;
  if (!peer.type_index) return foreign_missing(host, "the table of object types");
  *out = peer.type_index(&key, -1, 1, 0, 1, KP_TYPE_OBJECT);
  return 0;
}

inline int foreign_check_interrupts(const KpHost* host) {
  const Peer& peer = ForeignState::of(host).peer;
  return peer.check_signals && peer.check_signals() ? -1 : 0;
}

KP_COLD inline int foreign_get_extension(const KpHost*, KpBytes, uint32_t, const void** out) {
  *out = nullptr;
  return 0;
}

KP_COLD inline void fill_foreign_table(KpHost* table) {
  table->struct_size = sizeof(KpHost);
  table->abi_version = KP_ABI_VERSION;
  table->raise = &foreign_raise;
  table->raise_object = &foreign_raise_object;
  table->take_error = &foreign_take_error;
  table->tensor_alloc = &foreign_tensor_alloc;
  table->current_stream = &foreign_current_stream;
  table->global_get = &foreign_global_get;
  table->global_set = &foreign_global_set;
  table->type_index = &foreign_type_index;
  table->check_interrupts = &foreign_check_interrupts;
  table->get_extension = &foreign_get_extension;
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_FOREIGN_HOST_H_
