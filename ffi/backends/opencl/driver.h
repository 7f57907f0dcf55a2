// The OpenCL library of this machine, opened at run time: nothing links to it.
#ifndef KERNPACK_BACKENDS_OPENCL_DRIVER_H_
#define KERNPACK_BACKENDS_OPENCL_DRIVER_H_

#include <string>

#include "entry_points.h"

namespace kernpack::opencl {

// Opens libOpenCL.so.1 (KERNPACK_OPENCL_LIBRARY names another) and looks every entry point up. Returns why that cannot be done,
// or "" when `out` is filled. The library stays in memory.
std::string OpenDriver(EntryPoints* out);

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_DRIVER_H_
