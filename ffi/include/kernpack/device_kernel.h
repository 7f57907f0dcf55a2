// Running device code from a kernel: code loaded once a device, launched on the call's stream.
//
//     constexpr kp::DeviceCode kCode{"axpy", "cl", kSource};
//     void Axpy(double a, kp::TensorView x, kp::TensorView y) {
//       const uint32_t n = static_cast<uint32_t>(x.numel());
//       kp::launch(x.device(), kCode, "axpy", {n}, kp::any_block, static_cast<float>(a), x, y);
//     }
#ifndef KERNPACK_DEVICE_KERNEL_H_
#define KERNPACK_DEVICE_KERNEL_H_

#include <kernpack/device_api.h>
#include <kernpack/guard.h>
#include <kernpack/object.h>
#include <kernpack/stream.h>
#include <kernpack/string.h>
#include <kernpack/tensor.h>

#include <type_traits>

KP_NAMESPACE_BEGIN

// Code of this module for devices, in a format that their backend takes ("cl", "cubin", "ptx", ...). Static storage; `name` is
// its own within the module.
struct DeviceCode {
  StringView name;
  StringView format;
  StringView image;
  StringView options = {};
};

// Three extents; those left out are 1.
struct Extent3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

// For `block` of launch().
constexpr Extent3 any_block{0, 0, 0};

// An argument: so many bytes of the work-group's local memory.
struct LocalMemory {
  uint32_t bytes;
};

// An argument: memory of the device that is no tensor's, such as a Workspace's. `offset` in bytes; `itemsize` of an element.
struct DeviceMemory {
  void* handle;
  uint64_t offset;
  uint32_t itemsize;

  DeviceMemory(void* handle_, uint64_t offset_, uint32_t itemsize_)
      : handle(handle_), offset(offset_), itemsize(itemsize_) {}
  DeviceMemory(const TensorView& tensor)
      : DeviceMemory(tensor.raw().data, tensor.raw().byte_offset, static_cast<uint32_t>(tensor.itemsize())) {}
};

// What the backend of a device offers (kernpack/device_api.h). Valid for ever. Throws RuntimeError where there is no such device
// or driver.
inline const KpDeviceApi& device_api(Device device) {
  const KpHost* h = detail::host();
  const void* table = nullptr;
  detail::check_host(h->get_extension(h, kp_bytes(KP_DEVICES_EXTENSION), 1, &table));
  if (KP_UNLIKELY(!table)) KP_THROW(RuntimeError) << "this host offers no device tables, so nothing runs on " << device;
  const KpDeviceApi* api = nullptr;
  detail::check_host(static_cast<const KpDevices*>(table)->device_api(device.type, &api));
  return *api;
}

namespace detail {

struct LoadedCode {  // an object of the ABI
  KpObject header;
  const KpDeviceApi* api;
  KpDLDevice device;
  void* code;
};

inline void unload_code(void* object, int flags) {
  const LoadedCode* loaded = static_cast<const LoadedCode*>(object);
  if ((flags & KP_DELETE_STRONG) && loaded->code) loaded->api->unload_code(loaded->api, loaded->device, loaded->code);
  if (flags & KP_DELETE_WEAK) ::operator delete(object);
}

struct CodeRequest {
  const KpHost* host;
  const KpDeviceApi* api;
  const DeviceCode* code;
  StringView kernel;
  Device device;
};

inline KpStorageKey code_key(const CodeRequest& request, const Text& key) {
  return {current().module_name, key.bytes(), KP_SCOPE_DEVICE, 0, request.device, nullptr};
}

KP_COLD inline int load_code(void* context, KpAny* out) noexcept {
  const CodeRequest& r = *static_cast<CodeRequest*>(context);
  return guarded(r.host, "device code", [&] {
    int32_t type = 0;
    check_host(r.host->type_index(r.host, kp_bytes("kernpack.DeviceCode"), &type));
    Ref<LoadedCode> loaded(new_object<LoadedCode>(type, 0, &unload_code));
    loaded->api = r.api;
    loaded->device = r.device;
    check_host(r.api->load_code(r.api, r.device, r.code->image, r.code->format, r.code->options, &loaded->code));
    out->type_index = type;
    out->v.v_obj = &loaded.release()->header;
  });
}

KP_COLD inline int find_kernel(void* context, KpAny* out) noexcept {
  const CodeRequest& r = *static_cast<CodeRequest*>(context);
  return guarded(r.host, "device code", [&] {
    Text name;
    name << "kp.code:" << r.code->name;
    const KpStorageKey key = code_key(r, name);
    KpAny code = kp_none();  // stays in storage until the device is reset, and its kernels with it
    check_host(r.host->storage_get_or_init(r.host, &key, &load_code, context, &code));
    void* loaded = reinterpret_cast<LoadedCode*>(code.v.v_obj)->code;
    kp_any_release(&code);
    check_host(r.api->get_kernel(r.api, r.device, loaded, r.kernel, &out->v.v_ptr));
    out->type_index = KP_TYPE_OPAQUE_PTR;
  });
}

inline KpKernelArg kernel_arg(const DeviceMemory& memory) {
  return {KP_ARG_MEMORY, memory.itemsize, memory.handle, memory.offset};
}
inline KpKernelArg kernel_arg(const TensorView& tensor) { return kernel_arg(DeviceMemory(tensor)); }
inline KpKernelArg kernel_arg(const LocalMemory& local) { return {KP_ARG_LOCAL, local.bytes, nullptr, 0}; }
template <class T, class = std::enable_if_t<std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>>>
KpKernelArg kernel_arg(const T& value) {
  return {KP_ARG_VALUE, sizeof(T), &value, 0};
}

}  // namespace detail

// A kernel of the code on a device. Code is compiled on its first use there and kept until the device is reset. Throws what the
// compiler says.
inline void* device_kernel(Device device, const DeviceCode& code, StringView kernel) {
  detail::CodeRequest request{detail::host(), &device_api(device), &code, kernel, device};
  Text name;
  name << "kp.kernel:" << code.name << '/' << kernel;
  const KpStorageKey key = detail::code_key(request, name);
  KpAny found = kp_none();
  detail::check_host(request.host->storage_get_or_init(request.host, &key, &detail::find_kernel, &request, &found));
  return found.v.v_ptr;
}

// Queues a kernel on the current stream of the device. Arguments: tensors and DeviceMemory (of that device), numbers and
// structs by value, LocalMemory. With any_block the device divides the threads into blocks, and `grid` counts threads, not blocks. An extent of 0
// in `grid` queues nothing.
template <class... Args>
void launch(Device device, const DeviceCode& code, StringView kernel, Extent3 grid, Extent3 block,
            const Args&... args) {
  const KpDeviceApi& api = device_api(device);
  const KpKernelArg list[sizeof...(args) + 1] = {detail::kernel_arg(args)...};
  KpLaunch launch{};
  launch.struct_size = sizeof launch;
  launch.grid[0] = grid.x, launch.grid[1] = grid.y, launch.grid[2] = grid.z;
  launch.block[0] = block.x, launch.block[1] = block.y, launch.block[2] = block.z;
  launch.num_args = sizeof...(args);
  launch.args = list;
  detail::check_host(api.launch(&api, device, device_kernel(device, code, kernel), &launch, stream(device)));
}

KP_NAMESPACE_END

#endif  // KERNPACK_DEVICE_KERNEL_H_
