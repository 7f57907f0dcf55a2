// OpenCL's error codes as errors that say what was being done and what to do about it.
#ifndef KERNPACK_BACKENDS_OPENCL_ERROR_H_
#define KERNPACK_BACKENDS_OPENCL_ERROR_H_

#include <kernpack/error.h>

#include <string_view>

#include "entry_points.h"

namespace kernpack::opencl {

// "CL_OUT_OF_RESOURCES"; "OpenCL error -9999" when the code has no name.
const char* ErrorName(cl_int code) noexcept;

// Throws kp::Error: MemoryError for what is out of memory, else RuntimeError. The message is "<what> on opencl:<device>: <call>
// failed with CL_... (code): <advice>".
[[noreturn]] void ThrowStatus(cl_int code, const char* call, std::string_view what, int32_t device);

// `what`: the operation as the caller knows it, "copy".
inline void Check(cl_int code, const char* call, const char* what, int32_t device) {
  if (__builtin_expect(code != CL_SUCCESS, 0)) ThrowStatus(code, call, what, device);
}

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_ERROR_H_
