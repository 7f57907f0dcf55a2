#include "ir/target_limits.h"

#include <charconv>
#include <cstdint>
#include <initializer_list>

namespace kernpack::sdk::ir {
namespace {

int64_t Option(std::string_view text, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const std::string key = " -" + std::string(name) + "=";
    const size_t at = text.find(key);
    int64_t value = 0;
    if (at != std::string_view::npos) std::from_chars(text.data() + at + key.size(), text.data() + text.size(), value);
    if (value > 0) return value;
  }
  return 0;
}

}  // namespace

TargetLimits LimitsOf(std::string_view canonical) {
  TargetLimits limits;
  limits.kind = std::string(canonical.substr(0, canonical.find(' ')));
  limits.is_device = !limits.kind.empty() && limits.kind != "c" && limits.kind != "llvm";
  limits.threads = Option(canonical, {"max_threads_per_block", "max_num_threads"});
  limits.shared_bytes = Option(canonical, {"max_shared_memory_per_block"});
  return limits;
}

}  // namespace kernpack::sdk::ir
