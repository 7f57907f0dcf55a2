#include "ir/launch_limits.h"

#include <kernpack/error.h>
#include "shared/cuda_arch.h"
#include "shared/target_kinds.h"
#include "shared/target_text.h"

#include <algorithm>

namespace kernpack::sdk::ir {
namespace {

// The shared memory that every architecture gives a block without a request for more.
constexpr int64_t kSharedBytes = 48 << 10;

// "Maximum amount of shared memory per thread block" of compute capability 7.0 and so on: CUDA C++ Programming Guide 13.0, technical
// specifications. Earlier ones have no more than every block gets.
struct SharedOfDevice {
  int device;
  int64_t kilobytes;
};
constexpr SharedOfDevice kSharedOfDevices[] = {{60, 48}, {70, 96},  {75, 64},   {80, 163},  {86, 99},   {87, 163},
                                               {89, 99}, {90, 227}, {100, 227}, {103, 227}, {110, 227}, {120, 99}};

// The least of those that run code of the architecture: a launch that asks for no more runs on all of them.
int64_t GetSharedBytes(const std::optional<std::string>& name) {
  const std::optional<host::CudaArch> arch = name ? host::ReadCudaArch(*name) : std::nullopt;
  int64_t least = INT64_MAX;
  for (const auto& [device, kilobytes] : kSharedOfDevices) {
    if (arch && arch->RunsOn(device)) least = std::min(least, kilobytes << 10);
  }
  return least == INT64_MAX ? kSharedBytes : least;
}

}  // namespace

TargetLimits GetLimits(const Target& target) {
  TargetLimits limits;
  limits.kind = target.kind().name();
  limits.text = target.str();
  limits.is_device = target.kind().device_type() != KP_DEVICE_CPU;
  if (!limits.is_device) return limits;
  // Those of all of CUDA's architectures that generators know, and OpenCL's defaults of the kind.
  const bool cuda = limits.kind == host::kCudaKind;
  limits.threads = target.GetAttr<int64_t>("max_threads_per_block", cuda ? 1024 : 0);
  const int64_t shared_bytes = cuda ? GetSharedBytes(target.GetAttr<std::string>("arch")) : 0;
  limits.shared_bytes = target.GetAttr<int64_t>("max_shared_memory_per_block", shared_bytes);
  if (!cuda) return limits;
  constexpr int64_t kBlock[] = {1024, 1024, 64}, kGrid[] = {INT32_MAX, 65535, 65535};
  std::copy_n(kBlock, 3, limits.block);
  std::copy_n(kGrid, 3, limits.grid);
  return limits;
}

TargetLimits GetLimits(const std::string& target) {
  if (target.empty()) return {};
  try {
    return GetLimits(Target(target));
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
