#include "guests/torch/throw.h"

#include <kernpack/loaded.h>

#include "base/loaded_libraries.h"

namespace kernpack::torch {

Throw FindThrow(bool invalid_argument) {
  void* library = detail::loaded_library("libstdc++.so.6");  // libtorch needs it: it is loaded
  if (library == nullptr) return nullptr;
  return reinterpret_cast<Throw>(host::FindInLibrary(
      library, invalid_argument ? "_ZSt24__throw_invalid_argumentPKc" : "_ZSt21__throw_runtime_errorPKc"));
}

}  // namespace kernpack::torch
