// Running device code from a kernel: code loaded once per device, launched on the call's stream.
//
//     constexpr kp::DeviceCode kCode{"axpy", "cl", kSource};
//     void Axpy(double a, kp::TensorView x, kp::MutTensorView y) {
//       const uint32_t n = static_cast<uint32_t>(x.numel());
//       kp::launch(x.device(), kCode, "axpy", {n}, kp::any_block, static_cast<float>(a), x, y);
//     }
#ifndef KERNPACK_DEVICE_KERNEL_H_
#define KERNPACK_DEVICE_KERNEL_H_

#include <kernpack/any.h>
#include <kernpack/device_code.h>
#include <kernpack/device_service.h>
#include <kernpack/stream.h>
#include <kernpack/string.h>
#include <kernpack/tensor.h>

#include <string>
#include <type_traits>

KP_NAMESPACE_BEGIN

// Device code of this module, in a format that the device's backend accepts ("cl", "cubin", "ptx", ...). Static storage; `name` is
// unique within the module.
//
//   static const kp::DeviceCode kScale{"scale", "cl", R"(
//     __kernel void scale(__global float* x, float by) { x[get_global_id(0)] *= by; })"};
//   kp::launch(x.device(), kScale, "scale", {n}, {64}, x, 2.0f);
struct DeviceCode {
  StringView name;
  StringView format;
  StringView image;
  StringView options = {};
};

// Three extents of a launch, such as {n} or {columns, rows}; omitted ones are 1.
struct Extent3 {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

// For `block` of launch(): `grid` counts threads, and the device divides them into blocks. On CUDA the last
// block may have more threads than are left: the kernel compares its index with the count, as examples/devices does.
constexpr Extent3 any_block{0, 0, 0};

// An argument of a launch, kp::LocalMemory{256 * sizeof(float)}: `bytes` bytes of the work-group's local memory. On OpenCL a __local
// parameter; on CUDA dynamic shared memory (`extern __shared__`), which isn't a parameter: if there are several such arguments, each
// begins at the next multiple of 16 bytes.
struct LocalMemory {
  uint32_t bytes;
};

// An argument of a launch: memory of the device that isn't a tensor's, such as a Workspace's. `offset` in bytes; `itemsize` of an
// element. Tensors convert to it.
//
//   const kp::Workspace sums(device, "sums", 64 * sizeof(float));
//   kp::launch(device, kCode, "add", {64}, {64}, x, kp::DeviceMemory(sums.data(), 0, sizeof(float)));
struct DeviceMemory {
  void* handle;
  uint64_t offset;
  uint32_t itemsize;

  DeviceMemory(void* handle_, uint64_t offset_, uint32_t itemsize_)
      : handle(handle_), offset(offset_), itemsize(itemsize_) {}
  template <class Derived, class Void>
  DeviceMemory(const TensorApi<Derived, Void>& tensor)
      : DeviceMemory(tensor.raw().data, tensor.raw().byte_offset, static_cast<uint32_t>(tensor.itemsize())) {}
};

// The table of the device's backend (kernpack/device_api.h), valid until the process ends. RuntimeError if there is no such device
// or driver.
inline const KpDeviceApi& device_api(Device device) {
  const KpDeviceApi* api = nullptr;
  detail::check_host(detail::find_device_api(detail::host(), device, &api));
  return *api;
}

// The architecture that code has to fit to run on the device, such as "sm_90". "" if the device's backend has no such name.
inline std::string device_arch(Device device) {
  const KpDeviceApi& api = device_api(device);
  Any found;
  detail::check_host(api.get_property(&api, device, KpBytes{"arch", 4}, found.out()));
  return found.try_cast<std::string>().value_or(std::string());
}

namespace detail {

inline KpKernelArg kernel_arg(const DeviceMemory& memory) {
  return {KP_ARG_MEMORY, memory.itemsize, memory.handle, memory.offset};
}
inline KpKernelArg kernel_arg(const LocalMemory& local) { return {KP_ARG_LOCAL, local.bytes, nullptr, 0}; }
inline KpKernelArg kernel_arg(const KpTensorMap& map) { return {KP_ARG_TENSOR_MAP, sizeof map, &map, 0}; }
// Tensors are DeviceMemory.
template <class T, class = std::enable_if_t<std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
                                            !std::is_convertible_v<const T&, DeviceMemory>>>
KpKernelArg kernel_arg(const T& value) {
  return {KP_ARG_VALUE, sizeof(T), &value, 0};
}

}  // namespace detail

// A kernel of the code on a device. The code is compiled on its first use there and kept until the device is reset. Throws the compiler's
// errors.
inline void* device_kernel(Device device, const DeviceCode& code, StringView kernel) {
  const KpDeviceApi& api = device_api(device);
  const KpHost* host = detail::device_host(detail::host());
  void* found = nullptr;
  detail::check_host(detail::find_kernel(
      {host, &api, device, detail::current().module_name, code.name, code.format, code.image, code.options, kernel},
      &found));
  return found;
}

// Queues a kernel on the current stream of the device. Arguments: tensors and DeviceMemory (of that device), numbers and
// structs by value, LocalMemory; a KpTensorMap, of which a CUDA kernel gets the 128 bytes of a CUtensorMap. An extent of 0 in
// `grid` queues nothing.
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
