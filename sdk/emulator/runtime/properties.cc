// Facts by which host code sizes its launches: a device's properties, and how many blocks of a kernel a multiprocessor holds.
#include <algorithm>

#include "driver/occupancy.h"
#include "runtime/runtime.h"

namespace kernpack::cuda::runtime {
namespace {

// An attribute of a device that is there.
int Fact(DeviceAttribute attribute, int device) {
  int value = 0;
  Driver().cuDeviceGetAttribute(&value, attribute, device);
  return value;
}

size_t Bytes(DeviceAttribute attribute, int device) { return static_cast<size_t>(Fact(attribute, device)); }

template <class Properties>
void Fill(int device, Properties* to) {
  to->shared_bytes = Bytes(kMaxSharedMemoryPerBlock, device);
  to->registers = Fact(kMaxRegistersPerBlock, device);
  to->warp_size = Fact(kWarpSize, device);
  to->max_pitch = Bytes(kMaxPitch, device);
  to->max_threads = Fact(kMaxThreadsPerBlock, device);
  to->max_block[0] = Fact(kMaxBlockDimX, device), to->max_block[1] = Fact(kMaxBlockDimY, device);
  to->max_block[2] = Fact(kMaxBlockDimZ, device);
  to->max_grid[0] = Fact(kMaxGridDimX, device), to->max_grid[1] = Fact(kMaxGridDimY, device);
  to->max_grid[2] = Fact(kMaxGridDimZ, device);
  to->constant_bytes = Bytes(kTotalConstantMemory, device);
  to->major = Fact(kComputeCapabilityMajor, device), to->minor = Fact(kComputeCapabilityMinor, device);
  to->multiprocessors = Fact(kMultiprocessorCount, device);
  to->concurrent_kernels = Fact(kConcurrentKernels, device);
  to->unified_addressing = Fact(kUnifiedAddressing, device);
  to->l2_bytes = Fact(kL2CacheSize, device);
  to->threads_per_multiprocessor = Fact(kMaxThreadsPerMultiprocessor, device);
  to->stream_priorities = Fact(kStreamPrioritiesSupported, device);
  to->shared_per_multiprocessor = Bytes(kMaxSharedMemoryPerMultiprocessor, device);
  to->registers_per_multiprocessor = Fact(kMaxRegistersPerMultiprocessor, device);
  to->managed_memory = Fact(kManagedMemory, device);
  to->concurrent_managed_access = Fact(kConcurrentManagedAccess, device);
  to->shared_optin_bytes = Bytes(kMaxSharedMemoryPerBlockOptin, device);
  to->blocks_per_multiprocessor = Fact(kMaxBlocksPerMultiprocessor, device);
  to->reserved_shared_bytes = Bytes(kReservedSharedMemoryPerBlock, device);
  to->memory_pools = Fact(kMemoryPoolsSupported, device);
  to->cooperative_launch = Fact(kCooperativeLaunch, device);
  to->cluster_launch = Fact(kClusterLaunch, device);
}

template <class Properties>
Error Describe(Properties* to, int device) {
  if (to == nullptr) return Said(kInvalidValue);
  if (const auto result = Driver().cuInit(0); result != kSuccess) return Said(result);
  DeviceHandle handle = 0;
  if (const auto result = Driver().cuDeviceGet(&handle, device); result != kSuccess) return Said(result);
  *to = {};
  Driver().cuDeviceGetName(to->name, sizeof to->name, handle);
  Driver().cuDeviceTotalMem(&to->global_bytes, handle);
  Uuid uuid{};
  Driver().cuDeviceGetUuid(&uuid, handle);
  std::copy_n(uuid.bytes, sizeof uuid, to->uuid);
  to->bus_bits = Fact(kGlobalMemoryBusWidth, device);
  to->pci_bus = device + 1;
  to->texture_alignment = 512, to->texture_pitch_alignment = 32, to->surface_alignment = 512;
  to->async_engines = 1, to->maps_host_memory = 1;
  Fill(device, to);
  return kSuccess;
}

struct Kernel {
  int device, max_threads;
  size_t static_shared;
};

Error GetKernel(const void* host, Kernel* out) {
  FunctionHandle function = nullptr;
  if (const Error error = FindFunction(host, &function); error != kSuccess) return error;
  int shared = 0;
  Driver().cuFuncGetAttribute(&shared, kFuncSharedSizeBytes, function);
  Driver().cuFuncGetAttribute(&out->max_threads, kFuncMaxThreadsPerBlock, function);
  out->static_shared = static_cast<size_t>(shared);
  return CurrentDevice(&out->device);
}

}  // namespace
}  // namespace kernpack::cuda::runtime

using namespace kernpack::cuda::runtime;
using namespace kernpack::cuda;

KP_RUNTIME_API Error cudaGetDeviceProperties(DeviceProperties* to, int device) { return Describe(to, device); }
// The name in programs that were compiled with CUDA 12.
KP_RUNTIME_API Error cudaGetDeviceProperties_v2(DeviceProperties12* to, int device) {
  const Error error = Describe(to, device);
  if (error != kSuccess) return error;
  to->clock_khz = Fact(kClockRate, device);
  to->memory_clock_khz = Fact(kMemoryClockRate, device);
  return kSuccess;
}

KP_RUNTIME_API Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, const void* host, int threads,
                                                                            size_t dynamic_shared, unsigned /*flags*/) {
  if (count == nullptr || threads <= 0) return Said(kInvalidValue);
  Kernel kernel{};
  if (const Error error = GetKernel(host, &kernel); error != kSuccess) return error;
  *count = 0;
  if (threads > kernel.max_threads) return kSuccess;
  const auto fact = [&](DeviceAttribute attribute) { return Fact(attribute, kernel.device); };
  *count = BlocksPerMultiprocessor(fact, threads, kernel.static_shared, dynamic_shared);
  return kSuccess;
}
KP_RUNTIME_API Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* count, const void* host, int threads,
                                                                   size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, host, threads, dynamic_shared, 0);
}
KP_RUNTIME_API Error cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* host, int blocks,
                                                               int threads) {
  if (bytes == nullptr || blocks <= 0 || threads <= 0) return Said(kInvalidValue);
  Kernel kernel{};
  if (const Error error = GetKernel(host, &kernel); error != kSuccess) return error;
  const size_t taken = kernel.static_shared + Bytes(kReservedSharedMemoryPerBlock, kernel.device);
  const size_t share = Bytes(kMaxSharedMemoryPerMultiprocessor, kernel.device) / static_cast<size_t>(blocks);
  const size_t most = Bytes(kMaxSharedMemoryPerBlockOptin, kernel.device);
  *bytes = share > taken ? std::min(share - taken, most - std::min(most, kernel.static_shared)) : 0;
  return kSuccess;
}
