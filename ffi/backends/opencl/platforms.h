// Which OpenCL devices there are.
#ifndef KERNPACK_BACKENDS_OPENCL_PLATFORMS_H_
#define KERNPACK_BACKENDS_OPENCL_PLATFORMS_H_

#include <string>
#include <vector>

#include "entry_points.h"

namespace kernpack::opencl {

struct DeviceFacts {
  cl_platform_id platform = nullptr;
  cl_device_id id = nullptr;
  cl_device_type type = 0;
  std::string platform_name;
  std::string platform_version;  // "OpenCL 3.0 PoCL 3.1 Linux, LLVM 15.0.6, ...": the compiler's too
  std::string vendor;
  std::string name;
  std::string version;         // "OpenCL 3.0 PoCL ..."
  std::string driver_version;  // "3.1"
};

struct DeviceList {
  std::vector<DeviceFacts> devices;  // opencl:0, opencl:1, ...
  std::string reason;                // why there is none, or "" when there is one
};

// All devices of all platforms that speak OpenCL 1.2: GPUs first, then accelerators, CPUs and others; among equals by names, and
// then in the driver's order. The same machine gives the same list. Makes no context. Throws std::bad_alloc only.
DeviceList ListDevices(const EntryPoints& cl);

// A string property; "" where the driver has none.
std::string DeviceText(const EntryPoints& cl, cl_device_id device, cl_device_info what);

// A property of fixed size. False where the driver has none.
template <class T>
bool DeviceValue(const EntryPoints& cl, cl_device_id device, cl_device_info what, T* out) {
  return cl.clGetDeviceInfo(device, what, sizeof(T), out, nullptr) == CL_SUCCESS;
}

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_PLATFORMS_H_
