// Device code in the storage of a host: loaded once per device, its kernels found by name. Nothing here throws, because
// generated modules use it too.
#ifndef KERNPACK_DEVICE_CODE_H_
#define KERNPACK_DEVICE_CODE_H_

#include <kernpack/device.h>
#include <kernpack/device_api.h>
#include <kernpack/loaded.h>

KP_NAMESPACE_BEGIN
namespace detail {

// The host of the libkernpack in the process, of whatever major of the ABI it is, or NULL. Looked for until it is there: it is
// never unloaded.
KP_COLD inline const KpHost* any_kernpack_host() {
  static const KpHost* found = nullptr;  // the same for whoever looks
  if (const KpHost* host = __atomic_load_n(&found, __ATOMIC_ACQUIRE)) return host;
  void* library = loaded_library(KP_LIBRARY_FILE("kernpack"));
  const auto get = reinterpret_cast<const KpHost* (*)()>(library_function(library, "kp_host"));
  const KpHost* host = get ? get() : nullptr;
  if (host) __atomic_store_n(&found, host, __ATOMIC_RELEASE);
  return host;
}

// Kernpack's host where it is in the process and of this major, else NULL: a foreign host called, so nobody has compared them.
KP_COLD inline const KpHost* kernpack_host() {
  const KpHost* host = any_kernpack_host();
  return host && host->abi_version >> 16 == KP_ABI_MAJOR ? host : nullptr;
}

// The host that has devices and keeps what is on them, for a call under `host`; NULL when there is none. A foreign host, whose
// table lacks storage, has neither; Kernpack's may be in the process beside it, where tensors of an OpenCL device come from.
inline const KpHost* device_host(const KpHost* host) {
  return KP_LIKELY(host->storage_get_or_init != nullptr) ? host : kernpack_host();
}

// Finds the host's table of devices, for work on `device`. 0, or -1 with an error raised.
inline int find_devices(const KpHost* host, KpDLDevice device, const KpDevices** out) {
  const void* table = nullptr;
  const KpHost* owner = device_host(host);
  if (owner && owner->get_extension(owner, kp_bytes(KP_DEVICES_EXTENSION), 1, &table)) return -1;
  *out = static_cast<const KpDevices*>(table);
  if (KP_LIKELY(table != nullptr)) return 0;
  Text text;
  text << "this host offers no device tables, so nothing runs on " << device << "; ";
  const KpHost* other = owner ? nullptr : any_kernpack_host();
  if (!other) {
    text << "import kernpack in this process";
  } else {
    const uint32_t major = other->abi_version >> 16;
    text << "the kernpack in this process has ABI " << major << '.' << (other->abi_version & 0xffff)
         << ", and the module needs " KP_STRINGIFY(KP_ABI_MAJOR) ".x: "
         << (major < KP_ABI_MAJOR ? "pip install -U kernpack" : "install a newer build of the module");
  }
  return host->raise(host, kp_bytes("RuntimeError"), text.bytes(), KpBytes{nullptr, 0});
}

// The table of a device's backend, which is valid until the process ends. 0, or -1 with an error raised: there is no such device or driver.
inline int find_device_api(const KpHost* host, KpDLDevice device, const KpDeviceApi** out) {
  const KpDevices* devices = nullptr;
  return find_devices(host, device, &devices) ? -1 : devices->device_api(device.device_type, out);
}

struct LoadedCode {  // an object of the ABI
  KpObject header;
  const KpDeviceApi* api;
  KpDLDevice device;
  void* code;
};

inline void unload_code(void* object, int flags) {
  const LoadedCode* loaded = static_cast<const LoadedCode*>(object);
  if (flags & KP_DELETE_STRONG) loaded->api->unload_code(loaded->api, loaded->device, loaded->code);
  if (flags & KP_DELETE_WEAK) ::operator delete(object);
}

// A kernel of a module's code. `name` is the code's own within the module.
struct KernelRequest {
  const KpHost* host;  // device_host()
  const KpDeviceApi* api;
  KpDLDevice device;
  KpBytes module_name;
  KpBytes name;
  KpBytes format;
  KpBytes image;
  KpBytes options;
  KpBytes kernel;

  // Stays in storage until the device is reset.
  int stored(const Text& key, KpStorageFactory make, KpAny* out) {
    const KpStorageKey k = {module_name, key.bytes(), KP_SCOPE_DEVICE, 0, device, nullptr};
    return host->storage_get_or_init(host, &k, make, this, out);
  }
};

KP_COLD inline int load_code(void* context, KpAny* out) {
  const KernelRequest& r = *static_cast<KernelRequest*>(context);
  LoadedCode made = {{1 | uint64_t{1} << 32, 0, 0, &unload_code}, r.api, r.device, nullptr};
  if (r.host->type_index(r.host, kp_bytes("kernpack.DeviceCode"), &made.header.type_index) ||
      r.api->load_code(r.api, r.device, r.image, r.format, r.options, &made.code)) {
    return -1;
  }
  void* memory = ::operator new(sizeof made, std::nothrow);
  if (!memory) {
    r.api->unload_code(r.api, r.device, made.code);
    return r.host->raise(r.host, kp_bytes("MemoryError"), kp_bytes("device code: out of memory"), KpBytes{nullptr, 0});
  }
  *out = kp_none();
  out->type_index = made.header.type_index;
  out->v.v_obj = &(new (memory) LoadedCode(made))->header;
  return 0;
}

KP_COLD inline int make_kernel(void* context, KpAny* out) {
  KernelRequest& r = *static_cast<KernelRequest*>(context);
  Text key;
  key << "kp.code:" << r.name;
  KpAny code = kp_none();
  if (r.stored(key, &load_code, &code)) return -1;
  void* loaded = reinterpret_cast<LoadedCode*>(code.v.v_obj)->code;
  kp_any_release(&code);
  if (r.api->get_kernel(r.api, r.device, loaded, r.kernel, &out->v.v_ptr)) return -1;
  out->type_index = KP_TYPE_OPAQUE_PTR;
  return 0;
}

// Its handle. Code is compiled on its first use on a device. Returns 0, or -1 with the compiler's error raised.
inline int find_kernel(KernelRequest request, void** out) {
  Text key;
  key << "kp.kernel:" << request.name << '/' << request.kernel;
  KpAny found = kp_none();
  if (request.stored(key, &make_kernel, &found)) return -1;
  *out = found.v.v_ptr;
  return 0;
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_DEVICE_CODE_H_
