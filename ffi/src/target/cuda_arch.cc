#include "target/cuda_arch.h"

#include <charconv>

namespace kernpack::host {

std::optional<CudaArch> ReadCudaArch(std::string_view text) {
  CudaArch arch{};
  arch.ptx = text.starts_with("compute_");
  if (!arch.ptx && !text.starts_with("sm_")) return std::nullopt;
  text.remove_prefix(arch.ptx ? 8 : 3);
  if (text.ends_with('a') || text.ends_with('f')) {
    arch.suffix = text.back();
    text.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), arch.number);
  if (error != std::errc() || end != text.data() + text.size() || arch.number < 10 || arch.number > 9999) {
    return std::nullopt;
  }
  return arch;
}

bool RunsOn(const CudaArch& code, const CudaArch& device) {
  if (code.suffix == 'a') return device.number == code.number;
  const bool same_major = device.number / 10 == code.number / 10;
  return device.number >= code.number && (same_major || (code.ptx && code.suffix == 0));
}

int Specificity(const CudaArch& code) {
  constexpr int kMachineCode = 100000;
  const int suffix = code.suffix == 'a' ? 2 : code.suffix == 'f' ? 1 : 0;
  return (code.ptx ? 0 : kMachineCode) + code.number * 3 + suffix;
}

}  // namespace kernpack::host
