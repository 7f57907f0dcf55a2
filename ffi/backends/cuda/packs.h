// Code of other wheels: `kernpack split` takes machine code out of a module's fat binaries, and leaves a list of the packs that have it.
#ifndef KERNPACK_BACKENDS_CUDA_PACKS_H_
#define KERNPACK_BACKENDS_CUDA_PACKS_H_

#include <string>
#include <string_view>
#include <vector>

#include <kernpack/abi.h>

namespace kernpack::cuda {

struct CodePack {
  int number = 0;  // a compute capability: 90
  std::string digest;  // SHA-256 of the pack's fat binary, which is called so
  std::string wheel;  // "my-kernels-cu-sm90==1.0"
};

// The list in a fat binary; none of one that wasn't split.
std::vector<CodePack> ReadPacks(std::string_view fatbin);

// A fat binary of the images in this one and in those of its packs that are installed and that a device of this compute capability may run.
// False with *why if a pack isn't the one that belongs to the module.
bool JoinPacks(const KpHost* host, std::string_view fatbin, const std::vector<CodePack>& packs, int number,
               std::string* out, std::string* why);

// Which wheel to install for that device: "its code for sm_90 is in another wheel: pip install ...".
std::string AdviceOnPacks(const std::vector<CodePack>& packs, int number);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_PACKS_H_
