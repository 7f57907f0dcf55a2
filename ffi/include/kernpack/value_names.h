/* The names of value types, dtypes and devices in errors, in plain C: for C++ headers and for generated C. */
#ifndef KERNPACK_VALUE_NAMES_H_
#define KERNPACK_VALUE_NAMES_H_

#include <kernpack/abi.h>
#include <kernpack/dtype_table.h>
#include <stddef.h>

/* In C++ the files of a library share one copy. */
#ifdef __cplusplus
#define KP_INLINE_C inline
#else
#define KP_INLINE_C static inline
#endif

/* "int", "Tensor"; "an object" for types that only their host knows. */
KP_INLINE_C const char* kp_value_type_name(int32_t type_index) {
  static const char plain[][8] = {"None",   "int", "bool",  "float",  "pointer", "dtype", "device",
                                  "Tensor", "str", "bytes", "rvalue", "str",     "bytes"};
  static const char objects[][9] = {"object", "str",  "bytes", "Error",  "Function", "Shape",
                                    "Tensor", "list", "dict",  "Module", "object",   "list"};
  if (type_index >= 0 && type_index <= KP_TYPE_SMALL_BYTES) return plain[type_index];
  return type_index >= KP_TYPE_OBJECT && type_index <= KP_TYPE_LIST ? objects[type_index - KP_TYPE_OBJECT]
                                                                    : "an object";
}

/* "cuda"; NULL for types that only the host knows. */
KP_INLINE_C const char* kp_known_device_name(int32_t device_type) {
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

/* "f32"; NULL for a dtype that no contract can name. */
KP_INLINE_C const char* kp_known_dtype_name(uint8_t code, uint8_t bits) {
  static const struct {
    char name[16];
    uint8_t code;
    uint8_t bits;
  } rows[] = {
#define KP_DTYPE_ROW_(constant, name, word, code, bits) {name, KP_DTYPE_##code, bits},
      KP_DTYPES(KP_DTYPE_ROW_)
#undef KP_DTYPE_ROW_
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
    if (rows[i].code == code && rows[i].bits == bits) return rows[i].name;
  }
  return NULL;
}

#endif /* KERNPACK_VALUE_NAMES_H_ */
