#include "backends/cuda/attributes.h"

#include <charconv>
#include <optional>

#include "shared/target_kinds.h"
#include "shared/target_text.h"

#include "backends/cuda/image.h"
#include "backends/cuda/text.h"

namespace kernpack::cuda {
namespace {

constexpr int32_t kAnyCuda = 1;
constexpr int32_t kRefused = -1;

std::optional<int> Number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int32_t MatchArch(const Device& device, std::string_view value, std::string* reason) {
  const std::optional<Arch> arch = host::ReadCudaArch(value);
  if (!arch) {
    *reason = "architecture " + std::string(value) + " is not known to this version";
    return kRefused;
  }
  if (device.emulated && !arch->ptx) {
    *reason = "the emulated device runs PTX only, as -arch=compute_80 makes it";
    return kRefused;
  }
  *reason = "the device is " + device.arch();
  if (!arch->RunsOn(device.limits.major * 10 + device.limits.minor)) return kRefused;
  return kAnyCuda + 1 + arch->Specificity();
}

// The device's value of an option that is a minimum; 0: an option that says nothing about the device.
std::optional<int> GetLimit(const Device& device, std::string_view option) {
  const Limits& limits = device.limits;
  if (option == "max_num_threads" || option == "max_threads_per_block") return limits.max_threads_per_block;
  if (option == "max_shared_memory_per_block") return limits.max_shared_optin;
  for (const char* silent : {"host", "keys", "tag", "model", "device", "libs", "thread_warp_size",
                             "registers_per_block", "l2_cache_size_bytes", "fast-math-contract"}) {
    if (option == silent) return 0;
  }
  return std::nullopt;
}

}  // namespace

int32_t MatchTarget(const Device& device, std::string_view target, std::string* reason) {
  host::TargetWords words;
  if (*reason = host::ReadTargetWords(target, &words); !reason->empty()) return kRefused;
  if (words.kind != host::kCudaKind) {
    *reason = "it is for " + std::string(words.kind);
    return kRefused;
  }
  int32_t rank = kAnyCuda;
  *reason = "any cuda";
  for (const host::TargetOption& option : words.options) {
    const std::string value = host::Unquote(option.raw);
    if (option.name == "arch") {
      rank = MatchArch(device, value, reason);
      if (rank < 0) return rank;
      continue;
    }
    const std::optional<int> has = GetLimit(device, option.name);
    if (!has) {
      *reason = "option -" + std::string(option.name) + " is not known to this version";
      return kRefused;
    }
    if (*has != 0 && Number(value).value_or(*has + 1) > *has) {
      *reason = Format("%.*s of the device is %d", static_cast<int>(option.name.size()), option.name.data(), *has);
      return kRefused;
    }
  }
  return rank;
}

}  // namespace kernpack::cuda
