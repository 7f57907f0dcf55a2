#include "entry_points.h"

#include <dlfcn.h>

#include <cstdlib>

namespace kernpack::opencl {

std::string OpenDriver(EntryPoints* out) {
  const char* named = std::getenv("KERNPACK_OPENCL_LIBRARY");
  const std::string library = named != nullptr && *named != 0 ? named : "libOpenCL.so.1";
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* why = dlerror();
    return "the OpenCL library cannot be opened: " + std::string(why != nullptr ? why : library) +
           "; install an OpenCL loader (Debian: ocl-icd-libopencl1) or set KERNPACK_OPENCL_LIBRARY to its path";
  }
  const char* missing = nullptr;
  const auto find = [&](const char* name) {
    void* symbol = dlsym(handle, name);
    if (symbol == nullptr) missing = name;
    return symbol;
  };
  EntryPoints cl;
#define KP_OPENCL_FIND_(name) cl.name = reinterpret_cast<decltype(cl.name)>(find(#name));
  KP_OPENCL_ENTRY_POINTS(KP_OPENCL_FIND_)
#undef KP_OPENCL_FIND_
  if (missing == nullptr) {
    *out = cl;
    return "";
  }
  dlerror();  // clears the message, which would otherwise look like somebody else's
  return library + " has no " + missing + ": a loader for OpenCL 1.2 or later is needed";
}

}  // namespace kernpack::opencl
