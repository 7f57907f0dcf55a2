// Compile-only: every number, layout and function of driver_types.h and driver_entries.h against the toolkit's own headers.
#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

#include <cstddef>
#include <type_traits>

#include "backends/cuda/driver_entries.h"
#include "backends/cuda/driver_types.h"

#include "driver/entries.h"

// The toolkit names the types of these two without the number in the function's name.
using PFN_cuCtxCreate_v3_v11040 = PFN_cuCtxCreate_v11040;
using PFN_cuCtxCreate_v4_v12050 = PFN_cuCtxCreate_v12050;

namespace kernpack::cuda {
namespace {

// Parameters are the same to the calling convention: pointers are pointers, numbers have the same size.
template <class Ours, class Theirs>
constexpr bool kSameArgument =
    std::is_pointer_v<Ours> ? std::is_pointer_v<Theirs> : !std::is_pointer_v<Theirs> && sizeof(Ours) == sizeof(Theirs);

template <class Ours, class Theirs>
struct SameFunction : std::false_type {};
template <class R, class... Ours, class S, class... Theirs>
struct SameFunction<R(Ours...), S(Theirs...)> {
  static constexpr bool Check() {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs)) {
      return sizeof(R) == sizeof(S) && (kSameArgument<Ours, Theirs> && ...);
    }
    return false;
  }
  static constexpr bool value = Check();
};

#define KP_PIN_ENTRY_(name, version, parameters)                                                        \
  static_assert(SameFunction<Result parameters, std::remove_pointer_t<PFN_##name##_v##version>>::value, \
                "parameters of " #name);
KP_CUDA_ENTRIES(KP_PIN_ENTRY_)
KP_CUDA_OPTIONAL_ENTRIES(KP_PIN_ENTRY_)
KP_CUDA_TENSOR_MAP_ENTRIES(KP_PIN_ENTRY_)
// Those that only other programs call, on the emulated device.
KP_EMULATOR_OTHER_ENTRIES(KP_PIN_ENTRY_)
KP_EMULATOR_STREAM_ENTRIES(KP_PIN_ENTRY_)
KP_EMULATOR_MEMORY_ENTRIES(KP_PIN_ENTRY_)
KP_EMULATOR_VIRTUAL_ENTRIES(KP_PIN_ENTRY_)
KP_EMULATOR_IPC_ENTRIES(KP_PIN_ENTRY_)
KP_EMULATOR_CODE_ENTRIES(KP_PIN_ENTRY_)
#undef KP_PIN_ENTRY_

#define KP_PIN(ours, theirs) static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs), #theirs)
KP_PIN(kSuccess, CUDA_SUCCESS);
KP_PIN(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
KP_PIN(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
KP_PIN(kNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
KP_PIN(kDeinitialized, CUDA_ERROR_DEINITIALIZED);
KP_PIN(kStubLibrary, CUDA_ERROR_STUB_LIBRARY);
KP_PIN(kDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
KP_PIN(kNoDevice, CUDA_ERROR_NO_DEVICE);
KP_PIN(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
KP_PIN(kInvalidImage, CUDA_ERROR_INVALID_IMAGE);
KP_PIN(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
KP_PIN(kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
KP_PIN(kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
KP_PIN(kPeerAccessUnsupported, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
KP_PIN(kInvalidPtx, CUDA_ERROR_INVALID_PTX);
KP_PIN(kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
KP_PIN(kUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
KP_PIN(kInvalidHandle, CUDA_ERROR_INVALID_HANDLE);
KP_PIN(kNotFound, CUDA_ERROR_NOT_FOUND);
KP_PIN(kNotReady, CUDA_ERROR_NOT_READY);
KP_PIN(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
KP_PIN(kLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
KP_PIN(kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
KP_PIN(kPeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
KP_PIN(kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
KP_PIN(kAssert, CUDA_ERROR_ASSERT);
KP_PIN(kTooManyPeers, CUDA_ERROR_TOO_MANY_PEERS);
KP_PIN(kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
KP_PIN(kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
KP_PIN(kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
KP_PIN(kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
KP_PIN(kInvalidPc, CUDA_ERROR_INVALID_PC);
KP_PIN(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
KP_PIN(kCooperativeLaunchTooLarge, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
KP_PIN(kNotSupported, CUDA_ERROR_NOT_SUPPORTED);
KP_PIN(kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
KP_PIN(kStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
KP_PIN(kStreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
KP_PIN(kStreamCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
KP_PIN(kCapturedEvent, CUDA_ERROR_CAPTURED_EVENT);
KP_PIN(kExternalDevice, CUDA_ERROR_EXTERNAL_DEVICE);
KP_PIN(kInvalidClusterSize, CUDA_ERROR_INVALID_CLUSTER_SIZE);
KP_PIN(kUnknown, CUDA_ERROR_UNKNOWN);
#if CUDA_VERSION >= 13000
KP_PIN(kContained, CUDA_ERROR_CONTAINED);
KP_PIN(kTensorMemoryLeak, CUDA_ERROR_TENSOR_MEMORY_LEAK);
#endif

KP_PIN(kMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
KP_PIN(kMaxBlockDimX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
KP_PIN(kMaxBlockDimY, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
KP_PIN(kMaxBlockDimZ, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
KP_PIN(kMaxGridDimX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
KP_PIN(kMaxGridDimY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
KP_PIN(kMaxGridDimZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
KP_PIN(kMaxSharedMemoryPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
KP_PIN(kWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
KP_PIN(kMaxPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
KP_PIN(kMaxRegistersPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
KP_PIN(kClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
KP_PIN(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
KP_PIN(kComputeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
KP_PIN(kL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
KP_PIN(kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
KP_PIN(kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
KP_PIN(kManagedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
KP_PIN(kConcurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
KP_PIN(kMaxSharedMemoryPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
KP_PIN(kTotalConstantMemory, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
KP_PIN(kConcurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
KP_PIN(kMemoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
KP_PIN(kGlobalMemoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
KP_PIN(kMaxThreadsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
KP_PIN(kUnifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
KP_PIN(kStreamPrioritiesSupported, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
KP_PIN(kMaxSharedMemoryPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
KP_PIN(kMaxRegistersPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
KP_PIN(kMaxBlocksPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
KP_PIN(kReservedSharedMemoryPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
KP_PIN(kVirtualMemorySupported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
KP_PIN(kShareableDescriptorSupported, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
KP_PIN(kMemoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
KP_PIN(kCooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
KP_PIN(kClusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);

KP_PIN(kFuncMaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
KP_PIN(kFuncSharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
KP_PIN(kFuncLocalSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
KP_PIN(kFuncNumRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
KP_PIN(kFuncPtxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION);
KP_PIN(kFuncBinaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
KP_PIN(kFuncMaxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
KP_PIN(kFuncClusterSizeMustBeSet, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
KP_PIN(kFuncNonPortableClusterSizeAllowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
KP_PIN(kFuncConstSizeBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
KP_PIN(kFuncCacheModeCa, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
KP_PIN(kFuncSharedMemoryCarveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
KP_PIN(kFuncRequiredClusterWidth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
KP_PIN(kFuncRequiredClusterHeight, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
KP_PIN(kFuncRequiredClusterDepth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
KP_PIN(kFuncClusterSchedulingPolicy, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
KP_PIN(kPointerContext, CU_POINTER_ATTRIBUTE_CONTEXT);
KP_PIN(kPointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
KP_PIN(kPointerDevicePointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER);
KP_PIN(kPointerHostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER);
KP_PIN(kPointerDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
KP_PIN(kPointerRangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
KP_PIN(kPointerRangeSize, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
KP_PIN(kPointerSyncMemops, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
KP_PIN(kPointerBufferId, CU_POINTER_ATTRIBUTE_BUFFER_ID);
KP_PIN(kPointerIsIpcCapable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE);
KP_PIN(kPointerAllowedHandleTypes, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES);
KP_PIN(kPointerMempool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
KP_PIN(kPointerMapped, CU_POINTER_ATTRIBUTE_MAPPED);
KP_PIN(kPointerIsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED);
KP_PIN(kMemoryTypeHost, CU_MEMORYTYPE_HOST);
KP_PIN(kMemoryTypeDevice, CU_MEMORYTYPE_DEVICE);
KP_PIN(kMemoryTypeUnified, CU_MEMORYTYPE_UNIFIED);
KP_PIN(kCaptureNone, CU_STREAM_CAPTURE_STATUS_NONE);
KP_PIN(kCaptureActive, CU_STREAM_CAPTURE_STATUS_ACTIVE);
KP_PIN(kCaptureInvalidated, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
KP_PIN(kCaptureModeGlobal, CU_STREAM_CAPTURE_MODE_GLOBAL);
KP_PIN(kCaptureModeThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
KP_PIN(kCaptureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
KP_PIN(kProcFound, CU_GET_PROC_ADDRESS_SUCCESS);
KP_PIN(kProcNotFound, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
KP_PIN(kProcVersionNotSufficient, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
KP_PIN(kJitInfoLogBuffer, CU_JIT_INFO_LOG_BUFFER);
KP_PIN(kJitInfoLogBufferSizeBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
KP_PIN(kJitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
KP_PIN(kJitErrorLogBufferSizeBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
KP_PIN(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
KP_PIN(kEventDisableTiming, CU_EVENT_DISABLE_TIMING);
KP_PIN(kEventInterprocess, CU_EVENT_INTERPROCESS);
KP_PIN(kMemHostAllocPortable, CU_MEMHOSTALLOC_PORTABLE);
KP_PIN(kMemAttachGlobal, CU_MEM_ATTACH_GLOBAL);
KP_PIN(kMemLocationDevice, CU_MEM_LOCATION_TYPE_DEVICE);
KP_PIN(kMemAllocationPinned, CU_MEM_ALLOCATION_TYPE_PINNED);
KP_PIN(kMemHandleNone, CU_MEM_HANDLE_TYPE_NONE);
KP_PIN(kPoolReuseAllowInternalDependencies, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES);
KP_PIN(kPoolReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
KP_PIN(kPoolReservedCurrent, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
KP_PIN(kPoolUsedCurrent, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
KP_PIN(kLaunchIgnore, CU_LAUNCH_ATTRIBUTE_IGNORE);
KP_PIN(kLaunchAccessPolicyWindow, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW);
KP_PIN(kLaunchSynchronizationPolicy, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
KP_PIN(kLaunchCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
KP_PIN(kLaunchClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
KP_PIN(kLaunchClusterSchedulingPolicy, CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
KP_PIN(kLaunchProgrammaticStreamSerialization, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
KP_PIN(kLaunchPriority, CU_LAUNCH_ATTRIBUTE_PRIORITY);
KP_PIN(kLaunchMemSyncDomainMap, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP);
KP_PIN(kLaunchMemSyncDomain, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
KP_PIN(kLaunchSharedMemoryCarveout, CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
KP_PIN(kElementF64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
KP_PIN(kElementTf32Ftz, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
KP_PIN(kInterleave32, CU_TENSOR_MAP_INTERLEAVE_32B);
KP_PIN(kSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
#undef KP_PIN

#define KP_PIN_SIZE(ours, theirs) \
  static_assert(sizeof(ours) == sizeof(theirs) && alignof(ours) == alignof(theirs), #theirs)
#define KP_PIN_FIELD(ours, a, theirs, b) \
  static_assert(offsetof(ours, a) == offsetof(theirs, b) && sizeof(ours::a) == sizeof(theirs::b), #theirs "." #b)
static_assert(sizeof(DevicePtr) == sizeof(CUdeviceptr) && sizeof(DeviceHandle) == sizeof(CUdevice));
KP_PIN_SIZE(Result, CUresult);
KP_PIN_SIZE(MemPoolProps, CUmemPoolProps);
KP_PIN_FIELD(MemPoolProps, alloc_type, CUmemPoolProps, allocType);
KP_PIN_FIELD(MemPoolProps, handle_types, CUmemPoolProps, handleTypes);
KP_PIN_FIELD(MemPoolProps, location, CUmemPoolProps, location);
KP_PIN_FIELD(MemPoolProps, max_size, CUmemPoolProps, maxSize);
KP_PIN_FIELD(MemLocation, type, CUmemLocation, type);
KP_PIN_FIELD(MemLocation, id, CUmemLocation, id);
static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) && alignof(TensorMap) >= alignof(CUtensorMap));
KP_PIN_SIZE(LaunchConfig, CUlaunchConfig);
KP_PIN_FIELD(LaunchConfig, grid_x, CUlaunchConfig, gridDimX);
KP_PIN_FIELD(LaunchConfig, block_x, CUlaunchConfig, blockDimX);
KP_PIN_FIELD(LaunchConfig, block_z, CUlaunchConfig, blockDimZ);
KP_PIN_FIELD(LaunchConfig, shared_bytes, CUlaunchConfig, sharedMemBytes);
KP_PIN_FIELD(LaunchConfig, stream, CUlaunchConfig, hStream);
KP_PIN_FIELD(LaunchConfig, attributes, CUlaunchConfig, attrs);
KP_PIN_FIELD(LaunchConfig, attribute_count, CUlaunchConfig, numAttrs);
KP_PIN_SIZE(LaunchAttribute, CUlaunchAttribute);
KP_PIN_FIELD(LaunchAttribute, id, CUlaunchAttribute, id);
KP_PIN_FIELD(LaunchAttribute, value, CUlaunchAttribute, value);
KP_PIN_FIELD(LaunchAttributeValue, cluster, CUlaunchAttributeValue, clusterDim);
KP_PIN_FIELD(LaunchAttributeValue, cooperative, CUlaunchAttributeValue, cooperative);
KP_PIN_SIZE(IpcHandle, CUipcMemHandle);
KP_PIN_SIZE(IpcHandle, CUipcEventHandle);
KP_PIN_SIZE(MemAccess, CUmemAccessDesc);
KP_PIN_FIELD(MemAccess, flags, CUmemAccessDesc, flags);
KP_PIN_SIZE(MemAllocationProps, CUmemAllocationProp);
KP_PIN_FIELD(MemAllocationProps, handle_types, CUmemAllocationProp, requestedHandleTypes);
KP_PIN_FIELD(MemAllocationProps, location, CUmemAllocationProp, location);
KP_PIN_FIELD(MemAllocationProps, hints, CUmemAllocationProp, allocFlags);
KP_PIN_SIZE(Memcpy2D, CUDA_MEMCPY2D);
KP_PIN_FIELD(Memcpy2D, from_x, CUDA_MEMCPY2D, srcXInBytes);
KP_PIN_FIELD(Memcpy2D, from_type, CUDA_MEMCPY2D, srcMemoryType);
KP_PIN_FIELD(Memcpy2D, from_host, CUDA_MEMCPY2D, srcHost);
KP_PIN_FIELD(Memcpy2D, from_device, CUDA_MEMCPY2D, srcDevice);
KP_PIN_FIELD(Memcpy2D, from_pitch, CUDA_MEMCPY2D, srcPitch);
KP_PIN_FIELD(Memcpy2D, to_x, CUDA_MEMCPY2D, dstXInBytes);
KP_PIN_FIELD(Memcpy2D, to_type, CUDA_MEMCPY2D, dstMemoryType);
KP_PIN_FIELD(Memcpy2D, to_host, CUDA_MEMCPY2D, dstHost);
KP_PIN_FIELD(Memcpy2D, to_device, CUDA_MEMCPY2D, dstDevice);
KP_PIN_FIELD(Memcpy2D, to_pitch, CUDA_MEMCPY2D, dstPitch);
KP_PIN_FIELD(Memcpy2D, width, CUDA_MEMCPY2D, WidthInBytes);
KP_PIN_FIELD(Memcpy2D, height, CUDA_MEMCPY2D, Height);
#undef KP_PIN_SIZE
#undef KP_PIN_FIELD

}  // namespace
}  // namespace kernpack::cuda
