#include "target/target_match.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <kernpack/host/host.h>

#include "target/cpu_level.h"

namespace kernpack::host {
namespace {

constexpr std::string_view kSpaces = " \t";
constexpr int kLeast = 1;  // of any target; a baseline, which names none, is 0

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t begin = text.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos) return words;
    const size_t end = std::min(text.find_first_of(kSpaces, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

TargetMatch No(std::string reason) { return {-1, std::move(reason)}; }

// The device type that code of this kind runs on; 0: unknown kind.
int32_t DeviceTypeOfKind(std::string_view kind) {
  if (kind == "llvm" || kind == "c") return KP_DEVICE_CPU;
  KpDLDevice device{};
  if (kind == "cpu" || kp_device_from_name(KpBytes{kind.data(), kind.size()}, &device) != 0) {
    kp_error_clear();
    return 0;
  }
  return device.device_type;
}

TargetMatch MatchCpu(std::string_view option, std::string_view value, int cpu_level) {
  if (option != "-mcpu") return No("option " + std::string(option) + " is not known to this version");
  const int wanted = CpuLevelFromName(value);
  if (wanted == 0) return No("processor " + std::string(value) + " is not known to this version");
  const std::string has = std::string("this processor is ") + CpuLevelName(cpu_level);
  if (wanted > cpu_level) return No(has);
  return {kLeast + wanted, has};
}

struct CudaArch {
  int number;   // 90
  bool family;  // a trailing letter: that exact architecture only
};

std::optional<CudaArch> ParseCudaArch(std::string_view text) {
  if (!text.starts_with("sm_")) return std::nullopt;
  text.remove_prefix(3);
  CudaArch arch{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), arch.number);
  const size_t used = static_cast<size_t>(end - text.data());
  if (error != std::errc() || arch.number < 10 || text.size() - used > 1) return std::nullopt;
  arch.family = text.size() != used;
  return arch;
}

// Machine code runs on its own and later minors of one major.
TargetMatch MatchCuda(std::string_view option, std::string_view value, const char* device_arch) {
  if (option != "-arch") return No("option " + std::string(option) + " is not known to this version");
  const auto wanted = ParseCudaArch(value);
  if (!wanted) return No("architecture " + std::string(value) + " is not known to this version");
  if (!device_arch) return No("no device backend is loaded that could tell the device's architecture");
  const auto has = ParseCudaArch(device_arch);
  const std::string is = std::string("the device is ") + device_arch;
  const bool runs = has && has->number / 10 == wanted->number / 10 &&
                    (wanted->family ? has->number == wanted->number : has->number >= wanted->number);
  if (!runs) return No(is);
  return {kLeast + wanted->number * 2 + (wanted->family ? 1 : 0), is};
}

}  // namespace

TargetMatch MatchTarget(std::string_view target, KpDLDevice device, int cpu_level, const char* device_arch) {
  const std::vector<std::string_view> words = Words(target);
  if (words.empty()) return No("the target is empty");
  const int32_t type = DeviceTypeOfKind(words[0]);
  if (type == 0) return No("target kind " + std::string(words[0]) + " is not known to this version");
  if (type != device.device_type) return No(std::string("it is for ") + kp_device_type_name(type));
  TargetMatch best{kLeast, std::string("any ") + kp_device_type_name(type)};
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = std::min(words[i].find('='), words[i].size());
    const std::string_view option = words[i].substr(0, equals);
    const std::string_view value = equals < words[i].size() ? words[i].substr(equals + 1) : std::string_view();
    TargetMatch match = type == KP_DEVICE_CPU ? MatchCpu(option, value, cpu_level)
                        : type == KP_DEVICE_CUDA
                            ? MatchCuda(option, value, device_arch)
                            : No("option " + std::string(option) + " is not known to this version");
    if (match.rank < 0) return match;
    best = std::move(match);
  }
  return best;
}

}  // namespace kernpack::host
