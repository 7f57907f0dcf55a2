/* What errors call the types of values and of devices, in plain C: for C++ headers and for generated C. */
#ifndef KERNPACK_VALUE_NAMES_H_
#define KERNPACK_VALUE_NAMES_H_

#include <kernpack/abi.h>

/* "int", "Tensor"; "an object" for types that only their host knows. */
static inline const char* kp_value_type_name(int32_t type_index) {
  static const char plain[][8] = {"None",   "int", "bool",  "float",  "pointer", "dtype", "device",
                                  "Tensor", "str", "bytes", "rvalue", "str",     "bytes"};
  static const char objects[][9] = {"object", "str",  "bytes", "Error",  "Function", "Shape",
                                    "Tensor", "list", "dict",  "Module", "object",   "list"};
  if (type_index >= 0 && type_index <= KP_TYPE_SMALL_BYTES) return plain[type_index];
  return type_index >= KP_TYPE_OBJECT && type_index <= KP_TYPE_LIST ? objects[type_index - KP_TYPE_OBJECT]
                                                                    : "an object";
}

/* "cuda"; NULL for types that only the host knows. */
static inline const char* kp_known_device_name(int32_t device_type) {
  switch (device_type) {
    case KP_DEVICE_CPU:
      return "cpu";
    case KP_DEVICE_CUDA:
      return "cuda";
    case KP_DEVICE_CUDA_HOST:
      return "cuda_host";
    case KP_DEVICE_OPENCL:
      return "opencl";
    case KP_DEVICE_VULKAN:
      return "vulkan";
    case KP_DEVICE_METAL:
      return "metal";
    case KP_DEVICE_ROCM:
      return "rocm";
    case KP_DEVICE_ROCM_HOST:
      return "rocm_host";
    case KP_DEVICE_CUDA_MANAGED:
      return "cuda_managed";
    case KP_DEVICE_ONEAPI:
      return "oneapi";
    case KP_DEVICE_WEBGPU:
      return "webgpu";
    case KP_DEVICE_HEXAGON:
      return "hexagon";
    default:
      return NULL;
  }
}

#endif /* KERNPACK_VALUE_NAMES_H_ */
