// Reads a code image before the driver sees it: its architectures and its kernels.
#ifndef KERNPACK_BACKENDS_CUDA_IMAGE_H_
#define KERNPACK_BACKENDS_CUDA_IMAGE_H_

#include <string>
#include <string_view>
#include <vector>

#include "shared/cuda_arch.h"

namespace kernpack::cuda {

using Arch = host::CudaArch;

struct Image {
  enum class Kind { kCubin, kFatbin, kPtx };
  Kind kind = Kind::kCubin;
  std::vector<Arch> archs;  // empty: it does not say in a way we know, and the driver decides
  int ptx_version = 0;  // of PTX: 83 is 8.3; 0: it does not say
  std::vector<std::string> kernels;  // as far as they can be read without unpacking
};

// `format` is "cubin", "fatbin", "ptx" or "" (told by the first bytes). False with *why when it is none of these, or cut off.
bool ReadImage(std::string_view image, std::string_view format, Image* out, std::string* why);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_IMAGE_H_
