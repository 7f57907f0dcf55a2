// Architectures of CUDA code: sm_90, sm_90a, sm_100f, compute_80.
#ifndef KERNPACK_SRC_TARGET_CUDA_ARCH_H_
#define KERNPACK_SRC_TARGET_CUDA_ARCH_H_

#include <optional>
#include <string_view>

namespace kernpack::host {

struct CudaArch {
  int number;   // 90
  char suffix;  // 'a': that architecture only; 'f': its family; 0
  bool ptx;     // compute_: compiled by the driver when it is loaded
};

std::optional<CudaArch> ReadCudaArch(std::string_view text);
// Machine code runs on its own and later minors of one major; PTX on its own and any later architecture.
bool RunsOn(const CudaArch& code, const CudaArch& device);
// Machine code before PTX, a newer architecture before an older one, what is for less before what is for more.
int Specificity(const CudaArch& code);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_TARGET_CUDA_ARCH_H_
