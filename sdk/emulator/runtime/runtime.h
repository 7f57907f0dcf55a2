// NVIDIA's runtime library over the emulated driver, for .cu files that are linked for the emulated device: what nvcc's host code
// calls (registration and launches), and the part of the API that kernels' host code uses. It takes the place of libcudart, whose
// calls of the driver aren't documented. Names, parameters and error numbers are those of the CUDA Runtime API.
#ifndef KERNPACK_SDK_EMULATOR_RUNTIME_RUNTIME_H_
#define KERNPACK_SDK_EMULATOR_RUNTIME_RUNTIME_H_

#include <string>

#include "backends/cuda/driver_entries.h"
#include "driver/entries.h"

#define KP_RUNTIME_API extern "C" __attribute__((visibility("default")))

namespace kernpack::cuda::runtime {

using Error = int;  // cudaError_t; where the driver has the same error, its number is the same
constexpr Error kInvalidConfiguration = 9, kInvalidSymbol = 13, kInvalidDeviceFunction = 98;

struct Dim3 {
  unsigned x, y, z;
};

// cudaLaunchConfig_t.
struct LaunchArguments {
  Dim3 grid, block;
  size_t shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// The part of cudaFuncAttributes that every version has; what an emulated device lacks, such as registers, is 0.
struct FunctionAttributes {
  size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared_bytes;
};

// cudaDeviceProp of CUDA 13. What an emulated device doesn't have is 0.
struct DeviceProperties {
  char name[256];
  unsigned char uuid[16];
  char luid[8];
  unsigned luid_mask;
  size_t global_bytes, shared_bytes;
  int registers, warp_size;
  size_t max_pitch;
  int max_threads, max_block[3], max_grid[3];
  size_t constant_bytes;
  int major, minor;
  size_t texture_alignment, texture_pitch_alignment;
  int multiprocessors, integrated, maps_host_memory;
  int textures_and_surfaces[39];
  size_t surface_alignment;
  int concurrent_kernels, has_ecc, pci_bus, pci_device, pci_domain, tcc_driver, async_engines, unified_addressing;
  int bus_bits, l2_bytes, persisting_l2_bytes, threads_per_multiprocessor, stream_priorities, caches_in_l1[2];
  size_t shared_per_multiprocessor;
  int registers_per_multiprocessor, managed_memory, multi_gpu_board[2], host_atomics, pageable_access;
  int concurrent_managed_access, preemption, registered_host_pointers, cooperative_launch;
  size_t shared_optin_bytes;
  int host_page_tables, managed_from_host, blocks_per_multiprocessor, access_policy_bytes;
  size_t reserved_shared_bytes;
  int host_memory_and_arrays[4], memory_pools, rdma[3], pool_handle_types, more_arrays_and_ipc[2], cluster_launch;
  int rest[64];
};

// cudaDeviceProp of CUDA 12.
struct DeviceProperties12 {
  char name[256];
  unsigned char uuid[16];
  char luid[8];
  unsigned luid_mask;
  size_t global_bytes, shared_bytes;
  int registers, warp_size;
  size_t max_pitch;
  int max_threads, max_block[3], max_grid[3], clock_khz;
  size_t constant_bytes;
  int major, minor;
  size_t texture_alignment, texture_pitch_alignment;
  int device_overlap, multiprocessors, kernel_timeout, integrated, maps_host_memory, compute_mode;
  int textures_and_surfaces[39];
  size_t surface_alignment;
  int concurrent_kernels, has_ecc, pci_bus, pci_device, pci_domain, tcc_driver, async_engines, unified_addressing;
  int memory_clock_khz, bus_bits, l2_bytes, persisting_l2_bytes, threads_per_multiprocessor, stream_priorities;
  int caches_in_l1[2];
  size_t shared_per_multiprocessor;
  int registers_per_multiprocessor, managed_memory, multi_gpu_board[2], host_atomics, f32_to_f64, pageable_access;
  int concurrent_managed_access, preemption, registered_host_pointers, cooperative_launch, cooperative_devices;
  size_t shared_optin_bytes;
  int host_page_tables, managed_from_host, blocks_per_multiprocessor, access_policy_bytes;
  size_t reserved_shared_bytes;
  int host_memory_and_arrays[4], memory_pools, rdma[3], pool_handle_types, more_arrays_and_ipc[2], cluster_launch;
  int unified_function_pointers, rest[62];
};

// The driver's entries as its callers get them: each takes the driver's lock, and faults that tests ask for apply.
struct Entries {
#define KP_RUNTIME_MEMBER_(name, version, parameters) Result(*name) parameters = nullptr;
  KP_EMULATOR_ENTRIES(KP_RUNTIME_MEMBER_)
#undef KP_RUNTIME_MEMBER_
};
const Entries& Driver();

// Returns the error after it became this thread's last one; `detail` is what cudaGetErrorString adds to it.
Error Said(Error error, const std::string& detail = "");

// This thread has no last error any more.
void ForgetError();

// The first step of a call: makes the thread's context, or the context of the thread's device, current.
Error Ready();
// An entry of the driver, after Ready().
template <class... P, class... A>
Error Called(Result (*entry)(P...), A... arguments) {
  const Error error = Ready();
  return error != kSuccess ? error : Said(entry(arguments...));
}
// The device of the current context.
Error CurrentDevice(int* device);

// The device's function of a kernel, by the host's address of its stub, in the current context; loads the module that it is in.
Error FindFunction(const void* host, FunctionHandle* out);
// Likewise the memory of a __device__ or __constant__ variable.
Error FindVariable(const void* host, DevicePtr* address, size_t* bytes);

}  // namespace kernpack::cuda::runtime

#endif  // KERNPACK_SDK_EMULATOR_RUNTIME_RUNTIME_H_
