#include "backends/cuda/code.h"

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "backends/cuda/capture.h"
#include "backends/cuda/text.h"

namespace kernpack::cuda {
namespace {

constexpr uint64_t kPortableCluster = 8;  // blocks that a cluster may have on any device with clusters
constexpr uint64_t kLargestCluster = 16;

struct Shape {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t cluster[3];
  uint64_t cluster_blocks;
  bool cooperative;
};

std::string Triple(const uint32_t* extents) { return Format("(%u, %u, %u)", extents[0], extents[1], extents[2]); }

// Grid counts threads: blocks of one row, as large as the kernel allows. The last one may go beyond the count: blocks that
// divide a prime count evenly would have one thread each.
void ChooseBlock(const Kernel& kernel, Shape* shape) {
  const auto most = static_cast<uint32_t>(std::clamp(kernel.max_threads, 1, 256));
  const uint32_t count = shape->grid[0], width = std::min(count, most);
  shape->block[0] = width;
  shape->block[1] = shape->block[2] = 1;
  shape->grid[0] = count / width + (count % width != 0 ? 1 : 0);
}

int CheckBlock(const Kernel& kernel, const Shape& shape) {
  const Limits& limits = kernel.device->limits;
  for (int i = 0; i < 3; ++i) {
    if (shape.block[i] == 0 || shape.block[i] > static_cast<uint32_t>(limits.max_block[i])) {
      const uint32_t most[3] = {static_cast<uint32_t>(limits.max_block[0]), static_cast<uint32_t>(limits.max_block[1]),
                                static_cast<uint32_t>(limits.max_block[2])};
      return Refuse(kernel, Format("expected a block of at least (1, 1, 1) and at most %s threads, got %s",
                                   Triple(most).c_str(), Triple(shape.block).c_str()));
    }
    if (shape.grid[i] > static_cast<uint32_t>(limits.max_grid[i])) {
      return Refuse(kernel,
                    Format("expected a grid of at most %d blocks along dimension %d, got %u; put more work into "
                           "a block, or use another dimension",
                           limits.max_grid[i], i, shape.grid[i]));
    }
  }
  const uint64_t threads = uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  const int most = std::min(limits.max_threads_per_block, kernel.max_threads);
  if (threads > static_cast<uint64_t>(most)) {
    const bool by_kernel = kernel.max_threads < limits.max_threads_per_block;
    return Refuse(kernel, Format("expected at most %d threads per block (%s), got %llu: %s", most,
                                 by_kernel ? "its registers or launch bounds allow no more" : "the device's limit",
                                 static_cast<unsigned long long>(threads), Triple(shape.block).c_str()));
  }
  return 0;
}

int CheckCluster(const Kernel& kernel, const Shape& shape) {
  if (shape.cluster_blocks == 1) {
    if (!kernel.needs_cluster) return 0;
    return Refuse(kernel, "it was compiled to run in clusters of a size given at launch, and none is given");
  }
  if (!kernel.device->limits.clusters) {
    return Refuse(kernel, Format("clusters need a device of compute capability 9.0 or newer, this is %s; leave the "
                                 "cluster out",
                                 kernel.device->arch().c_str()));
  }
  if (shape.cluster_blocks > kLargestCluster) {
    return Refuse(kernel, Format("expected a cluster of at most %llu blocks, got %llu: %s",
                                 static_cast<unsigned long long>(kLargestCluster),
                                 static_cast<unsigned long long>(shape.cluster_blocks), Triple(shape.cluster).c_str()));
  }
  for (int i = 0; i < 3; ++i) {
    if (shape.grid[i] % shape.cluster[i] != 0) {
      return Refuse(kernel, Format("expected a grid that clusters of %s divide evenly, got %s",
                                   Triple(shape.cluster).c_str(), Triple(shape.grid).c_str()));
    }
  }
  return 0;
}

int Plan(const Kernel& kernel, const KpLaunch& launch, Shape* out) {
  std::copy_n(launch.grid, 3, out->grid);
  std::copy_n(launch.block, 3, out->block);
  if (launch.block[0] == 0 && launch.block[1] == 0 && launch.block[2] == 0) ChooseBlock(kernel, out);
  out->cooperative = (KP_FIELD_OR(KpLaunch, &launch, flags, 0U) & KP_LAUNCH_COOPERATIVE) != 0;
  if (out->cooperative && !kernel.device->limits.cooperative) {
    return Refuse(kernel, "the device has no cooperative launches");
  }
  out->cluster_blocks = 1;
  for (int i = 0; i < 3; ++i) {
    out->cluster[i] = std::max(launch.cluster[i], 1U);
    if (out->cluster[i] > kLargestCluster) {
      return Refuse(kernel, Format("expected a cluster of at most %llu blocks, got %s",
                                   static_cast<unsigned long long>(kLargestCluster), Triple(launch.cluster).c_str()));
    }
    out->cluster_blocks *= out->cluster[i];
  }
  if (CheckBlock(kernel, *out) != 0) return -1;
  return CheckCluster(kernel, *out);
}

// More than 48 KB of shared memory, and clusters beyond the portable size, are given to kernels that ask.
int OptIn(Kernel* kernel, const Shape& shape, uint64_t dynamic_shared) {
  const Device& device = *kernel->device;
  const int most = device.limits.max_shared_optin - kernel->static_shared;
  if (dynamic_shared > static_cast<uint64_t>(std::max(most, 0))) {
    return Refuse(*kernel, Format("expected at most %d bytes of dynamic shared memory (%d of the block's %d are the "
                                  "kernel's own), got %llu",
                                  std::max(most, 0), kernel->static_shared, device.limits.max_shared_optin,
                                  static_cast<unsigned long long>(dynamic_shared)));
  }
  if (dynamic_shared > static_cast<uint64_t>(kernel->dynamic_limit.load(std::memory_order_relaxed))) {
    KP_CUDA_TRY(device, cuFuncSetAttribute, (kernel->function, kFuncMaxDynamicSharedSizeBytes, most),
                "allowing the kernel " + kernel->name + " more shared memory");
    kernel->dynamic_limit.store(most, std::memory_order_relaxed);
  }
  if (shape.cluster_blocks > kPortableCluster && !kernel->large_clusters.load(std::memory_order_relaxed)) {
    KP_CUDA_TRY(device, cuFuncSetAttribute, (kernel->function, kFuncNonPortableClusterSizeAllowed, 1),
                "allowing the kernel " + kernel->name + " large clusters");
    kernel->large_clusters.store(true, std::memory_order_relaxed);
  }
  return 0;
}

// Pointers to the parameters, as the driver wants them; the first few need no allocation.
class Parameters {
 public:
  explicit Parameters(size_t count) {
    if (count <= kFew) return;
    many_values_.resize(count);
    many_pointers_.resize(count);
    values_ = many_values_.data();
    pointers_ = many_pointers_.data();
  }
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  // `i`: the kernel's parameter, `at` its place among the launch's arguments, for people.
  int Set(const Kernel& kernel, size_t i, size_t at, const KpKernelArg& argument) {
    size_t bytes = sizeof(DevicePtr);
    if (argument.kind == KP_ARG_MEMORY) {
      values_[i] = reinterpret_cast<uintptr_t>(argument.data) + argument.offset;
      pointers_[i] = &values_[i];
    } else if (argument.kind == KP_ARG_VALUE) {
      if (argument.data == nullptr || argument.size == 0) {
        return Refuse(kernel, Format("argument %zu: expected the address and size of a value, got none", at));
      }
      bytes = argument.size;
      pointers_[i] = const_cast<void*>(argument.data);
    } else if (argument.kind == KP_ARG_TENSOR_MAP) {
      bytes = sizeof(TensorMap);
      pointers_[i] = &maps_.emplace_back();
      if (EncodeTensorMap(kernel, at, argument, &maps_.back()) != 0) return -1;
    } else {
      return Refuse(kernel, Format("argument %zu: the kind %u is not known to this version", at, argument.kind));
    }
    if (kernel.knows_parameters && bytes != kernel.parameters[i]) {
      return Refuse(kernel, Format("argument %zu: expected %zu bytes, got %zu", at, kernel.parameters[i], bytes));
    }
    return 0;
  }
  void** data() { return pointers_; }

 private:
  static constexpr size_t kFew = 32;
  std::array<DevicePtr, kFew> few_values_;
  std::array<void*, kFew> few_pointers_;
  std::vector<DevicePtr> many_values_;
  std::vector<void*> many_pointers_;
  DevicePtr* values_ = few_values_.data();
  void** pointers_ = few_pointers_.data();
  std::deque<TensorMap> maps_;
};

// Local memory isn't a parameter in CUDA: it is dynamic shared memory (`extern __shared__`), one argument's behind the other's.
uint64_t DynamicShared(const KpLaunch& launch) {
  uint64_t bytes = launch.dynamic_shared;
  for (int32_t i = 0; i < launch.num_args; ++i) {
    if (launch.args[i].kind == KP_ARG_LOCAL) bytes = (bytes + 15) / 16 * 16 + launch.args[i].size;
  }
  return bytes;
}

int CheckKernel(const Device& device, const Kernel* kernel) {
  if (kernel == nullptr) return Raise(device.host(), "ValueError", device.name() + ": expected a kernel, got NULL");
  if (kernel->device == &device) return 0;
  return Refuse(*kernel, "it cannot be launched on " + device.name() + "; load its code there");
}

using Attributes = std::array<LaunchAttribute, 2>;

LaunchConfig Configure(const Shape& shape, uint32_t dynamic_shared, Stream stream, Attributes* attributes) {
  LaunchConfig config{shape.grid[0],  shape.grid[1],  shape.grid[2], shape.block[0],     shape.block[1],
                      shape.block[2], dynamic_shared, stream,        attributes->data(), 0};
  if (shape.cluster_blocks > 1) {
    LaunchAttribute& cluster = (*attributes)[config.attribute_count++];
    cluster.id = kLaunchClusterDimension;
    cluster.value.cluster.x = shape.cluster[0];
    cluster.value.cluster.y = shape.cluster[1];
    cluster.value.cluster.z = shape.cluster[2];
  }
  if (shape.cooperative) {
    LaunchAttribute& cooperative = (*attributes)[config.attribute_count++];
    cooperative.id = kLaunchCooperative;
    cooperative.value.cooperative = 1;
  }
  return config;
}

}  // namespace

int Refuse(const Kernel& kernel, const std::string& message) {
  return Raise(kernel.device->host(), "ValueError",
               Format("%s: kernel %s: ", kernel.device->name().c_str(), kernel.name.c_str()) + message);
}

int Launch(const Device& device, Kernel* kernel, const KpLaunch& launch, Stream stream) {
  if (CheckKernel(device, kernel) != 0) return -1;
  if (kernel->awaited != nullptr && FollowStandIn(device, &kernel) != 0) return -1;
  if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0) return 0;  // nothing to do is done
  const size_t given = launch.num_args > 0 ? static_cast<size_t>(launch.num_args) : 0;
  const auto count = static_cast<size_t>(std::count_if(
      launch.args, launch.args + given, [](const KpKernelArg& argument) { return argument.kind != KP_ARG_LOCAL; }));
  if (kernel->knows_parameters && count != kernel->parameters.size()) {
    return Refuse(*kernel, Format("expected %zu arguments, got %zu", kernel->parameters.size(), count) +
                               (count != given ? "; local memory, which CUDA kernels declare `extern __shared__`, "
                                                 "isn't counted"
                                               : ""));
  }
  Parameters parameters(count);
  for (size_t at = 0, i = 0; at < given; ++at) {
    if (launch.args[at].kind == KP_ARG_LOCAL) continue;
    if (parameters.Set(*kernel, i++, at, launch.args[at]) != 0) return -1;
  }
  Shape shape{};
  if (Plan(*kernel, launch, &shape) != 0) return -1;
  const ActiveContext active(device);
  const uint64_t shared = DynamicShared(launch);
  if (active.failed() || OptIn(kernel, shape, shared) != 0) return -1;
  Attributes attributes{};
  const LaunchConfig config = Configure(shape, static_cast<uint32_t>(shared), stream, &attributes);
  const Result result = device.driver().cuLaunchKernelEx(&config, kernel->function, parameters.data(), nullptr);
  if (result == kSuccess) return 0;
  return Fail(device, result, "cuLaunchKernelEx",
              Format("launching the kernel %s%s with grid %s, block %s and %u bytes of dynamic shared memory",
                     kernel->name.c_str(), shape.cooperative ? " cooperatively" : "", Triple(shape.grid).c_str(),
                     Triple(shape.block).c_str(), static_cast<uint32_t>(shared)));
}

}  // namespace kernpack::cuda
