// Building cl_programs.
#ifndef KERNPACK_BACKENDS_OPENCL_PROGRAM_H_
#define KERNPACK_BACKENDS_OPENCL_PROGRAM_H_

#include <string_view>

#include "backend.h"

namespace kernpack::opencl {

// The formats of load_code that are known here.
inline constexpr std::string_view kSourceFormat = "cl";
inline constexpr std::string_view kBinaryFormat = "clbin";

// From source, through the cache of binaries. ValueError with the compiler's log when it does not compile. Owned.
cl_program BuildSource(const char* function, const Device& device, std::string_view source, std::string_view options);
// From what clGetProgramInfo gave for this device. ValueError when the driver refuses it. Owned.
cl_program BuildBinary(const char* function, const Device& device, std::string_view binary, std::string_view options);

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_PROGRAM_H_
