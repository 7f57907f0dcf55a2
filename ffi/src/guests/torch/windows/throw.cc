#include "guests/torch/throw.h"

#include <kernpack/loaded.h>

#include "base/loaded_libraries.h"

namespace kernpack::torch {

// Microsoft's C++ library exports these functions for its own containers. Its exceptions pass through the frames of this library, which
// has nothing to clean up there.
Throw FindThrow(bool invalid_argument) {
  void* library = detail::loaded_library("msvcp140.dll");  // torch_cpu.dll needs it: it is loaded
  if (library == nullptr) return nullptr;
  return reinterpret_cast<Throw>(host::FindInLibrary(
      library, invalid_argument ? "?_Xinvalid_argument@std@@YAXPEBD@Z" : "?_Xruntime_error@std@@YAXPEBD@Z"));
}

}  // namespace kernpack::torch
