// Architectures of CUDA code, sm_90, sm_90a, sm_100f, compute_80: one reader and one rule for the host, which matches targets,
// and the CUDA backend, which links to nothing of the host's. C++17, header-only.
#ifndef KERNPACK_SHARED_CUDA_ARCH_H_
#define KERNPACK_SHARED_CUDA_ARCH_H_

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace kernpack::host {

struct CudaArch {
  int number = 0;  // 90
  char suffix = 0;  // 'a': exactly this one; 'f': this family; 0
  bool ptx = false;  // compute_: compiled by the driver for what it runs on

  // True if a device of this compute capability runs the code (9.0 is 90). Machine code runs on its own and later minor versions of
  // one major version; PTX runs on its own and any later architecture.
  bool RunsOn(int device) const {
    if (suffix == 'a') return device == number;
    const bool same_major = device / 10 == number / 10;
    return device >= number && (same_major || (ptx && suffix == 0));
  }
  // Machine code before PTX, a newer architecture before an older one, what is for less before what is for more. From 0 on.
  int Specificity() const {
    constexpr int kMachineCode = 100000;
    const int narrow = suffix == 'a' ? 2 : suffix == 'f' ? 1 : 0;
    return (ptx ? 0 : kMachineCode) + number * 3 + narrow;
  }
  std::string text() const {
    std::string text = (ptx ? "compute_" : "sm_") + std::to_string(number);
    if (suffix != 0) text += suffix;
    return text;
  }
};

// Nothing for what names no architecture.
inline std::optional<CudaArch> ReadCudaArch(std::string_view text) {
  constexpr std::string_view kPtx = "compute_", kMachine = "sm_";
  CudaArch arch;
  arch.ptx = text.substr(0, kPtx.size()) == kPtx;
  const std::string_view prefix = arch.ptx ? kPtx : kMachine;
  if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
  text.remove_prefix(prefix.size());
  if (!text.empty() && (text.back() == 'a' || text.back() == 'f')) {
    arch.suffix = text.back();
    text.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), arch.number);
  if (error != std::errc() || end != text.data() + text.size() || arch.number < 10 || arch.number > 9999) {
    return std::nullopt;
  }
  return arch;
}

}  // namespace kernpack::host

#endif  // KERNPACK_SHARED_CUDA_ARCH_H_
