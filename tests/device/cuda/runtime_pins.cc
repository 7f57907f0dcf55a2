// Nothing runs here: the emulated runtime library's declarations against the toolkit's.
#include <cuda_runtime_api.h>

#include <cstddef>

#include "../../../sdk/emulator/runtime/runtime.h"

namespace kernpack::cuda::runtime {
namespace {

static_assert(sizeof(Dim3) == sizeof(dim3) && sizeof(Error) == sizeof(cudaError_t));

static_assert(sizeof(LaunchArguments) == sizeof(cudaLaunchConfig_t));
static_assert(offsetof(LaunchArguments, block) == offsetof(cudaLaunchConfig_t, blockDim));
static_assert(offsetof(LaunchArguments, shared_bytes) == offsetof(cudaLaunchConfig_t, dynamicSmemBytes));
static_assert(offsetof(LaunchArguments, stream) == offsetof(cudaLaunchConfig_t, stream));
static_assert(offsetof(LaunchArguments, attributes) == offsetof(cudaLaunchConfig_t, attrs));
static_assert(offsetof(LaunchArguments, attribute_count) == offsetof(cudaLaunchConfig_t, numAttrs));

static_assert(sizeof(FunctionAttributes) <= sizeof(cudaFuncAttributes));
static_assert(offsetof(FunctionAttributes, local_bytes) == offsetof(cudaFuncAttributes, localSizeBytes));
static_assert(offsetof(FunctionAttributes, max_threads) == offsetof(cudaFuncAttributes, maxThreadsPerBlock));
static_assert(offsetof(FunctionAttributes, registers) == offsetof(cudaFuncAttributes, numRegs));
static_assert(offsetof(FunctionAttributes, max_dynamic_shared_bytes) ==
              offsetof(cudaFuncAttributes, maxDynamicSharedSizeBytes));

#if CUDART_VERSION >= 12000 && CUDART_VERSION < 13000
static_assert(sizeof(DeviceProperties12) == sizeof(cudaDeviceProp));
static_assert(offsetof(DeviceProperties12, clock_khz) == offsetof(cudaDeviceProp, clockRate));
static_assert(offsetof(DeviceProperties12, multiprocessors) == offsetof(cudaDeviceProp, multiProcessorCount));
static_assert(offsetof(DeviceProperties12, memory_clock_khz) == offsetof(cudaDeviceProp, memoryClockRate));
static_assert(offsetof(DeviceProperties12, managed_memory) == offsetof(cudaDeviceProp, managedMemory));
static_assert(offsetof(DeviceProperties12, shared_optin_bytes) == offsetof(cudaDeviceProp, sharedMemPerBlockOptin));
static_assert(offsetof(DeviceProperties12, memory_pools) == offsetof(cudaDeviceProp, memoryPoolsSupported));
static_assert(offsetof(DeviceProperties12, cluster_launch) == offsetof(cudaDeviceProp, clusterLaunch));
#endif

#if CUDART_VERSION >= 13000  // whose cudaDeviceProp it is
static_assert(sizeof(DeviceProperties) == sizeof(cudaDeviceProp));
#define KP_PIN_PROPERTY(ours, theirs)                                                   \
  static_assert(offsetof(DeviceProperties, ours) == offsetof(cudaDeviceProp, theirs) && \
                sizeof(DeviceProperties::ours) == sizeof(cudaDeviceProp::theirs))
KP_PIN_PROPERTY(name, name);
KP_PIN_PROPERTY(global_bytes, totalGlobalMem);
KP_PIN_PROPERTY(shared_bytes, sharedMemPerBlock);
KP_PIN_PROPERTY(registers, regsPerBlock);
KP_PIN_PROPERTY(warp_size, warpSize);
KP_PIN_PROPERTY(max_pitch, memPitch);
KP_PIN_PROPERTY(max_threads, maxThreadsPerBlock);
KP_PIN_PROPERTY(max_block, maxThreadsDim);
KP_PIN_PROPERTY(max_grid, maxGridSize);
KP_PIN_PROPERTY(constant_bytes, totalConstMem);
KP_PIN_PROPERTY(major, major);
KP_PIN_PROPERTY(minor, minor);
KP_PIN_PROPERTY(multiprocessors, multiProcessorCount);
KP_PIN_PROPERTY(concurrent_kernels, concurrentKernels);
KP_PIN_PROPERTY(unified_addressing, unifiedAddressing);
KP_PIN_PROPERTY(l2_bytes, l2CacheSize);
KP_PIN_PROPERTY(threads_per_multiprocessor, maxThreadsPerMultiProcessor);
KP_PIN_PROPERTY(stream_priorities, streamPrioritiesSupported);
KP_PIN_PROPERTY(shared_per_multiprocessor, sharedMemPerMultiprocessor);
KP_PIN_PROPERTY(registers_per_multiprocessor, regsPerMultiprocessor);
KP_PIN_PROPERTY(managed_memory, managedMemory);
KP_PIN_PROPERTY(concurrent_managed_access, concurrentManagedAccess);
KP_PIN_PROPERTY(shared_optin_bytes, sharedMemPerBlockOptin);
KP_PIN_PROPERTY(blocks_per_multiprocessor, maxBlocksPerMultiProcessor);
KP_PIN_PROPERTY(reserved_shared_bytes, reservedSharedMemPerBlock);
KP_PIN_PROPERTY(memory_pools, memoryPoolsSupported);
KP_PIN_PROPERTY(cluster_launch, clusterLaunch);
#undef KP_PIN_PROPERTY
#endif

// Numbers that the driver has too, and the runtime's own.
constexpr bool Same(int ours, cudaError_t theirs) { return ours == static_cast<int>(theirs); }
static_assert(Same(kInvalidValue, cudaErrorInvalidValue));
static_assert(Same(kOutOfMemory, cudaErrorMemoryAllocation));
static_assert(Same(kNotInitialized, cudaErrorInitializationError));
static_assert(Same(kNoDevice, cudaErrorNoDevice));
static_assert(Same(kInvalidDevice, cudaErrorInvalidDevice));
static_assert(Same(kInvalidImage, cudaErrorInvalidKernelImage));
static_assert(Same(kInvalidContext, cudaErrorDeviceUninitialized));
static_assert(Same(kNoBinaryForGpu, cudaErrorNoKernelImageForDevice));
static_assert(Same(kInvalidPtx, cudaErrorInvalidPtx));
static_assert(Same(kUnsupportedPtxVersion, cudaErrorUnsupportedPtxVersion));
static_assert(Same(kInvalidHandle, cudaErrorInvalidResourceHandle));
static_assert(Same(kNotFound, cudaErrorSymbolNotFound));
static_assert(Same(kNotReady, cudaErrorNotReady));
static_assert(Same(kIllegalAddress, cudaErrorIllegalAddress));
static_assert(Same(kLaunchOutOfResources, cudaErrorLaunchOutOfResources));
static_assert(Same(kLaunchTimeout, cudaErrorLaunchTimeout));
static_assert(Same(kAssert, cudaErrorAssert));
static_assert(Same(kMisalignedAddress, cudaErrorMisalignedAddress));
static_assert(Same(kLaunchFailed, cudaErrorLaunchFailure));
static_assert(Same(kNotSupported, cudaErrorNotSupported));
static_assert(Same(kStreamCaptureUnsupported, cudaErrorStreamCaptureUnsupported));
static_assert(Same(kInvalidConfiguration, cudaErrorInvalidConfiguration));
static_assert(Same(kInvalidSymbol, cudaErrorInvalidSymbol));
static_assert(Same(kInvalidDeviceFunction, cudaErrorInvalidDeviceFunction));

// Attributes have the driver's numbers.
static_assert(int{kMaxThreadsPerBlock} == int{cudaDevAttrMaxThreadsPerBlock});
static_assert(int{kMultiprocessorCount} == int{cudaDevAttrMultiProcessorCount});
static_assert(int{kComputeCapabilityMajor} == int{cudaDevAttrComputeCapabilityMajor});
static_assert(int{kMaxSharedMemoryPerBlockOptin} == int{cudaDevAttrMaxSharedMemoryPerBlockOptin});
static_assert(int{kFuncMaxDynamicSharedSizeBytes} == int{cudaFuncAttributeMaxDynamicSharedMemorySize});
static_assert(int{kFuncNonPortableClusterSizeAllowed} == int{cudaFuncAttributeNonPortableClusterSizeAllowed});
static_assert(int{kCaptureInvalidated} == int{cudaStreamCaptureStatusInvalidated});

}  // namespace
}  // namespace kernpack::cuda::runtime
