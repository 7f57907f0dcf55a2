// The part of CUDA's driver API that the backend uses, declared here so that it builds where no CUDA toolkit is. Tests compare
// every number, layout and parameter with the toolkit's headers where there are some (tests/device/cuda/driver_pins.cc).
#ifndef KERNPACK_BACKENDS_CUDA_DRIVER_TYPES_H_
#define KERNPACK_BACKENDS_CUDA_DRIVER_TYPES_H_

#include <cstddef>
#include <cstdint>

namespace kernpack::cuda {

using DeviceHandle = int;
using DevicePtr = unsigned long long;
using Context = struct ContextOpaque*;
using Stream = struct StreamOpaque*;
using Event = struct EventOpaque*;
using Pool = struct PoolOpaque*;
using ModuleHandle = struct ModuleOpaque*;
using FunctionHandle = struct FunctionOpaque*;

// Results of the driver. Only those that the backend distinguishes; any other is printed with the driver's own name and text.
enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kStubLibrary = 34,
  kDeviceUnavailable = 46,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kEccUncorrectable = 214,
  kPeerAccessUnsupported = 217,
  kInvalidPtx = 218,
  kNvlinkUncorrectable = 220,
  kUnsupportedPtxVersion = 222,
  kContained = 226,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kPeerAccessAlreadyEnabled = 704,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kTooManyPeers = 711,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kCooperativeLaunchTooLarge = 720,
  kTensorMemoryLeak = 721,
  kNotSupported = 801,
  kSystemDriverMismatch = 803,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kStreamCaptureImplicit = 906,
  kCapturedEvent = 907,
  kExternalDevice = 911,
  kInvalidClusterSize = 912,
  kUnknown = 999,
};

enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxBlockDimX = 2,
  kMaxBlockDimY = 3,
  kMaxBlockDimZ = 4,
  kMaxGridDimX = 5,
  kMaxGridDimY = 6,
  kMaxGridDimZ = 7,
  kMaxSharedMemoryPerBlock = 8,
  kTotalConstantMemory = 9,
  kWarpSize = 10,
  kMaxPitch = 11,  // bytes
  kMaxRegistersPerBlock = 12,
  kClockRate = 13,  // kHz
  kMultiprocessorCount = 16,
  kComputeMode = 20,
  kConcurrentKernels = 31,
  kMemoryClockRate = 36,  // kHz
  kGlobalMemoryBusWidth = 37,  // bits
  kL2CacheSize = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kUnifiedAddressing = 41,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kStreamPrioritiesSupported = 78,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kManagedMemory = 83,
  kConcurrentManagedAccess = 89,
  kCooperativeLaunch = 95,
  kMaxSharedMemoryPerBlockOptin = 97,
  kVirtualMemorySupported = 102,
  kShareableDescriptorSupported = 103,
  kMaxBlocksPerMultiprocessor = 106,
  kReservedSharedMemoryPerBlock = 111,
  kMemoryPoolsSupported = 115,
  kClusterLaunch = 120,
};

enum FunctionAttribute : int {
  kFuncMaxThreadsPerBlock = 0,
  kFuncSharedSizeBytes = 1,
  kFuncConstSizeBytes = 2,
  kFuncLocalSizeBytes = 3,
  kFuncNumRegisters = 4,
  kFuncPtxVersion = 5,  // the architecture of the PTX, 80 for sm_80
  kFuncBinaryVersion = 6,  // that of the code that runs
  kFuncCacheModeCa = 7,
  kFuncMaxDynamicSharedSizeBytes = 8,
  kFuncSharedMemoryCarveout = 9,
  kFuncClusterSizeMustBeSet = 10,
  kFuncRequiredClusterWidth = 11,
  kFuncRequiredClusterHeight = 12,
  kFuncRequiredClusterDepth = 13,
  kFuncNonPortableClusterSizeAllowed = 14,
  kFuncClusterSchedulingPolicy = 15,
};

enum PointerAttribute : int {
  kPointerContext = 1,
  kPointerMemoryType = 2,
  kPointerDevicePointer = 3,
  kPointerHostPointer = 4,
  kPointerSyncMemops = 6,
  kPointerBufferId = 7,
  kPointerIsManaged = 8,
  kPointerDeviceOrdinal = 9,
  kPointerIsIpcCapable = 10,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12,
  kPointerMapped = 13,
  kPointerAllowedHandleTypes = 14,
  kPointerMempool = 17,
};
enum MemoryType : unsigned { kMemoryTypeHost = 1, kMemoryTypeDevice = 2, kMemoryTypeUnified = 4 };

enum CaptureStatus : int { kCaptureNone = 0, kCaptureActive = 1, kCaptureInvalidated = 2 };
enum CaptureMode : int { kCaptureModeGlobal = 0, kCaptureModeThreadLocal = 1, kCaptureModeRelaxed = 2 };

enum ProcAddressStatus : int { kProcFound = 0, kProcNotFound = 1, kProcVersionNotSufficient = 2 };

enum JitOption : int {
  kJitInfoLogBuffer = 3,
  kJitInfoLogBufferSizeBytes = 4,
  kJitErrorLogBuffer = 5,
  kJitErrorLogBufferSizeBytes = 6,
};

constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventDisableTiming = 2;
constexpr unsigned kEventInterprocess = 4;
constexpr unsigned kMemHostAllocPortable = 1;
constexpr unsigned kMemAttachGlobal = 1;

enum MemLocationType : int { kMemLocationDevice = 1 };
enum MemAllocationType : int { kMemAllocationPinned = 1 };
enum MemHandleType : int { kMemHandleNone = 0 };
enum MemPoolAttribute : int {
  kPoolReuseAllowInternalDependencies = 3,
  kPoolReleaseThreshold = 4,
  kPoolReservedCurrent = 5,
  kPoolUsedCurrent = 7,
};

struct MemLocation {
  MemLocationType type;
  int id;
};

struct MemPoolProps {
  MemAllocationType alloc_type;
  MemHandleType handle_types;
  MemLocation location;
  void* win32_security_attributes;
  size_t max_size;
  unsigned short usage;
  unsigned char reserved[54];
};

struct Memcpy2D {
  size_t from_x, from_y;
  MemoryType from_type;
  const void* from_host;
  DevicePtr from_device;
  void* from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  MemoryType to_type;
  void* to_host;
  DevicePtr to_device;
  void* to_array;
  size_t to_pitch;
  size_t width, height;
};

enum LaunchAttributeId : int {
  kLaunchIgnore = 0,
  kLaunchAccessPolicyWindow = 1,
  kLaunchCooperative = 2,
  kLaunchSynchronizationPolicy = 3,
  kLaunchClusterDimension = 4,
  kLaunchClusterSchedulingPolicy = 5,
  kLaunchProgrammaticStreamSerialization = 6,
  kLaunchPriority = 8,
  kLaunchMemSyncDomainMap = 9,
  kLaunchMemSyncDomain = 10,
  kLaunchSharedMemoryCarveout = 14,
};

// Of cuTensorMapEncodeTiled, which also numbers types of 4 and 6 bits.
enum TensorMapNumber : int { kElementF64 = 8, kElementTf32Ftz = 12, kInterleave32 = 2, kSwizzle128 = 3 };

// CUtensorMap: what cuTensorMapEncodeTiled writes, and a kernel gets by value. Toolkits before 13 align it to 64.
struct alignas(128) TensorMap {
  unsigned long long words[16];
};

union LaunchAttributeValue {
  char pad[64];
  unsigned long long align;
  struct {
    unsigned x, y, z;
  } cluster;
  int cooperative;
};

struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  LaunchAttributeValue value;
};

struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_DRIVER_TYPES_H_
