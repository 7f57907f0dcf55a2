#include "ir/target_limits.h"

#include <kernpack/error.h>
#include "shared/target_kinds.h"
#include "shared/target_text.h"

#include <algorithm>

namespace kernpack::sdk::ir {
namespace {

// What every architecture gives a block that asks for no more.
constexpr int64_t kSharedBytes = 48 << 10;

}  // namespace

TargetLimits LimitsOf(const Target& target) {
  TargetLimits limits;
  limits.kind = target.kind().name();
  limits.text = target.str();
  limits.is_device = target.kind().device_type() != KP_DEVICE_CPU;
  if (!limits.is_device) return limits;
  // Those of all of CUDA's architectures that generators know, and OpenCL's defaults of the kind.
  const bool cuda = limits.kind == host::kCudaKind;
  limits.threads = target.GetAttr<int64_t>("max_threads_per_block", cuda ? 1024 : 0);
  limits.shared_bytes = target.GetAttr<int64_t>("max_shared_memory_per_block", cuda ? kSharedBytes : 0);
  if (!cuda) return limits;
  constexpr int64_t kBlock[] = {1024, 1024, 64}, kGrid[] = {INT32_MAX, 65535, 65535};
  std::copy_n(kBlock, 3, limits.block);
  std::copy_n(kGrid, 3, limits.grid);
  return limits;
}

TargetLimits LimitsOf(const std::string& target) {
  if (target.empty()) return {};
  try {
    return LimitsOf(Target(target));
  } catch (const Error&) {
    TargetLimits unknown;
    unknown.text = target;
    host::TargetWords words;
    static_cast<void>(host::ReadTargetWords(target, &words));  // as far as it can be read
    unknown.kind = words.kind;
    unknown.is_device = true;
    return unknown;
  }
}

}  // namespace kernpack::sdk::ir
