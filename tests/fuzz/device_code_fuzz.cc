// Code for CUDA devices as a module carries it: cubins, fat binaries with lists of packs, PTX, and CUDA C++ with its headers.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/image.h"
#include "backends/cuda/jit_source.h"
#include "backends/cuda/packs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace cuda = kernpack::cuda;
  const std::string_view code(reinterpret_cast<const char*>(data), size);
  std::string why;
  cuda::Image image;
  if (!cuda::ReadImage(code, "", &image, &why)) {
    if (why.empty()) std::abort();
  } else if (image.kind == cuda::Image::Kind::kFatbin) {
    const std::vector<cuda::CodePack> packs = cuda::ReadPacks(code);
    std::string joined;
    if (!cuda::JoinPacks(nullptr, code, packs, 90, &joined, &why)) std::abort();  // no pack is installed
    if (joined.size() > code.size() + 16 || !cuda::ReadPacks(joined).empty()) std::abort();
    (void)cuda::AdviceOnPacks(packs, 90);
  }
  cuda::JitSource source;
  why.clear();
  if (cuda::ReadJitSource(code, "-DA=1", &source, &why)) {
    if (source.digest.empty()) std::abort();
    (void)source.NeedsHeaders();
  } else if (why.empty()) {
    std::abort();
  }
  return 0;
}
