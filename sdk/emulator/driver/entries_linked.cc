// Functions that programs link and the CUDA backend doesn't call: synchronous copies, limits, launches without attributes.
#include <algorithm>

#include "driver/machine.h"
#include "driver/module.h"
#include "driver/occupancy.h"

namespace kernpack::cuda {
namespace {

// A copy is over when the function returns; that work of the default stream ran before it is as CUDA has it.
Result CopyNow(DevicePtr to, DevicePtr from, size_t bytes) {
  const Result result = cuMemcpyAsync(to, from, bytes, nullptr);
  return result == kSuccess ? cuStreamSynchronize(nullptr) : result;
}

constexpr size_t kLimits[] = {1024, 1 << 20, 8 << 20};  // bytes, as a GPU begins

}  // namespace

Result cuCtxSynchronize() {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (const Result result = UnsafeWhileCapturing(); result != kSuccess) return result;
  return RunAll(context);
}

// Nothing here is of a limited size.
Result cuCtxGetLimit(size_t* value, Limit limit) {
  if (limit < kStackSize || limit > kMallocHeapSize) return kInvalidValue;
  *value = kLimits[limit];
  return kSuccess;
}
Result cuCtxSetLimit(Limit limit, size_t /*value*/) {
  return limit < kStackSize || limit > kMallocHeapSize ? kInvalidValue : kSuccess;
}

Result cuMemcpyHtoD(DevicePtr to, const void* from, size_t bytes) {
  return CopyNow(to, reinterpret_cast<DevicePtr>(from), bytes);
}
Result cuMemcpyDtoH(void* to, DevicePtr from, size_t bytes) {
  return CopyNow(reinterpret_cast<DevicePtr>(to), from, bytes);
}
Result cuMemcpyDtoD(DevicePtr to, DevicePtr from, size_t bytes) { return CopyNow(to, from, bytes); }

Result cuMemsetD8(DevicePtr to, unsigned char value, size_t count) {
  const Result result = cuMemsetD8Async(to, value, count, nullptr);
  return result == kSuccess ? cuStreamSynchronize(nullptr) : result;
}

Result cuStreamCreate(Stream* stream, unsigned flags) { return cuStreamCreateWithPriority(stream, flags, 0); }

Result cuFuncSetCacheConfig(FunctionHandle /*function*/, CacheConfig /*config*/) { return kSuccess; }  // a hint

Result cuOccupancyMaxActiveClusters(int* clusters, FunctionHandle function, const LaunchConfig* config) {
  const int device = function->module->context->device;
  const auto fact = [&](DeviceAttribute attribute) {
    int value = 0;
    cuDeviceGetAttribute(&value, attribute, device);
    return value;
  };
  uint32_t blocks = std::max(function->program->cluster[0], 1U);
  if (function->program->cluster[0] != 0) blocks *= function->program->cluster[1] * function->program->cluster[2];
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const LaunchAttribute& attribute = config->attributes[i];
    if (attribute.id != kLaunchClusterDimension) continue;
    blocks = attribute.value.cluster.x * attribute.value.cluster.y * attribute.value.cluster.z;
  }
  const uint64_t threads = uint64_t{config->block_x} * config->block_y * config->block_z;
  if (blocks == 0 || threads == 0 || threads > function->program->max_threads) return kInvalidValue;
  const int each =
      BlocksPerMultiprocessor(fact, static_cast<int>(threads), function->program->shared_bytes, config->shared_bytes);
  *clusters = each * fact(kMultiprocessorCount) / static_cast<int>(blocks);
  return kSuccess;
}

Result cuLaunchKernel(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                      unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters,
                      void** extra) {
  const LaunchConfig config{grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, nullptr, 0};
  return cuLaunchKernelEx(&config, function, parameters, extra);
}

}  // namespace kernpack::cuda
