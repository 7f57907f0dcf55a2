// Devices, contexts and errors.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver/machine.h"

namespace kernpack::cuda {
namespace {

struct Named {
  Result result;
  const char* name;
  const char* text;
};

constexpr Named kNames[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {kDeinitialized, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {kDeviceUnavailable, "CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {kNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {kEccUncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {kInvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {kPeerAccessUnsupported, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
     "peer access is not supported between these two devices"},
    {kUnsupportedPtxVersion, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {kLaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {kLaunchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {kAssert, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {kMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {kInvalidClusterSize, "CUDA_ERROR_INVALID_CLUSTER_SIZE", "cluster misconfiguration"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {kCooperativeLaunchTooLarge, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", "too many blocks in cooperative launch"},
    {kPeerAccessAlreadyEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
    {kStreamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {kStreamCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {kStreamCaptureImplicit, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {kCapturedEvent, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
};

const Named* Find(Result result) {
  const auto* found =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const Named& n) { return n.result == result; });
  return found == std::end(kNames) ? nullptr : found;
}

bool IsDevice(DeviceHandle device) { return device >= 0 && device < Machine::Get().Setting("devices"); }

// The resources of a multiprocessor, by compute capability: NVIDIA's CUDA C++ Programming Guide, technical specifications.
struct Multiprocessor {
  int threads, blocks, shared_kib;
};
Multiprocessor GetMultiprocessor(int arch) {
  switch (arch) {
    case 70:
      return {2048, 32, 96};
    case 75:
      return {1024, 16, 64};
    case 80:
      return {2048, 32, 164};
    case 87:
      return {1536, 16, 164};
    case 86:
      return {1536, 16, 100};
    case 89:
    case 120:
    case 121:
      return {1536, 24, 100};
    default:
      return arch >= 90 ? Multiprocessor{2048, 32, 228} : Multiprocessor{2048, 32, 64};
  }
}

// From compute capability 8.0 on, the system keeps a part of each block's share.
int ReservedShared(int arch) { return arch >= 80 ? 1 << 10 : 0; }

// The most that a block may ask for.
int MostShared(int arch) {
  return arch >= 70 ? (GetMultiprocessor(arch).shared_kib << 10) - ReservedShared(arch) : 48 << 10;
}

// Attributes by their numbers in cuda.h that only other programs ask for. Features that the device doesn't have are 0.
int OtherAttribute(int number, DeviceHandle device) {
  constexpr int kLast = 147;  // of CUDA 13.0
  switch (number) {
    case 14:  // alignments of textures and surfaces
    case 30:
      return 512;
    case 51:  // of the rows of textures
      return 32;
    case 33:
      return device + 1;  // the PCI bus, as cuDeviceGetPCIBusId says
    case 15:  // copies beside kernels
    case 19:  // host memory that kernels use
    case 40:  // engines for copies
    case 90:  // kernels are interrupted
    case 91:  // registered host memory has the host's addresses
    case 99:  // host memory can be registered
    case 125:  // events of other processes
      return 1;
    case 87:  // f32 results in the time of one in f64
      return 2;
    case 127:  // tensor maps
      return Machine::Get().Arch(device) >= 90 ? 1 : 0;
    default:
      return number >= 1 && number <= kLast ? 0 : -1;
  }
}

// As of an A100, or of an H100 from compute capability 9.0 on.
int Attribute(DeviceAttribute attribute, DeviceHandle device) {
  const Machine& machine = Machine::Get();
  const int arch = machine.Arch(device);
  const bool hopper = arch >= 90;
  switch (attribute) {
    case kMaxThreadsPerBlock:
    case kMaxBlockDimX:
    case kMaxBlockDimY:
      return 1024;
    case kMaxBlockDimZ:
      return 64;
    case kMaxGridDimX:
      return 2147483647;
    case kMaxGridDimY:
    case kMaxGridDimZ:
      return 65535;
    case kMaxSharedMemoryPerBlock:
      return 48 << 10;
    case kMaxSharedMemoryPerBlockOptin:
      return MostShared(arch);
    case kWarpSize:
      return 32;
    case kMaxPitch:
      return static_cast<int>(machine.Setting("max_pitch"));
    case kMaxRegistersPerBlock:
    case kMaxRegistersPerMultiprocessor:
    case kTotalConstantMemory:
      return 65536;
    case kMaxThreadsPerMultiprocessor:
      return GetMultiprocessor(arch).threads;
    case kMaxBlocksPerMultiprocessor:
      return GetMultiprocessor(arch).blocks;
    case kMaxSharedMemoryPerMultiprocessor:
      return GetMultiprocessor(arch).shared_kib << 10;
    case kReservedSharedMemoryPerBlock:
      return ReservedShared(arch);
    case kComputeMode:
      return 0;  // CU_COMPUTEMODE_DEFAULT: any process may use the device
    case kConcurrentKernels:
    case kUnifiedAddressing:
    case kStreamPrioritiesSupported:
    case kCooperativeLaunch:
    case kVirtualMemorySupported:
    case kShareableDescriptorSupported:
      return 1;
    case kMemoryClockRate:
      return hopper ? 2619000 : 1593000;
    case kGlobalMemoryBusWidth:
      return 5120;
    case kClockRate:
      return hopper ? 1980000 : 1410000;
    case kMultiprocessorCount:
      return hopper ? 132 : 108;
    case kL2CacheSize:
      return (hopper ? 50 : 40) << 20;
    case kComputeCapabilityMajor:
      return arch / 10;
    case kComputeCapabilityMinor:
      return arch % 10;
    case kManagedMemory:
    case kConcurrentManagedAccess:
      return static_cast<int>(machine.Setting("managed"));
    case kMemoryPoolsSupported:
      return static_cast<int>(machine.Setting("pools"));
    case kClusterLaunch:
      return hopper ? 1 : 0;
  }
  return OtherAttribute(attribute, device);
}

// Reports that no caller of cuGetErrorString has seen: programs that print an error's name alone would lose them.
void SayUntold() {
  for (const auto& [result, report] : Machine::Get().reports) {
    if (Machine::Get().told.count(result) == 0) std::fprintf(stderr, "kernpack_cuda_emulator: %s\n", report.c_str());
  }
}

std::unique_ptr<ContextOpaque> MakeContext(int device) {
  auto context = std::make_unique<ContextOpaque>();
  context->device = device;
  context->legacy = std::make_shared<StreamOpaque>();
  context->legacy->context = context.get();
  return context;
}

}  // namespace

Result cuInit(unsigned flags) {
  Machine& machine = Machine::Get();
  if (flags != 0) return kInvalidValue;
  if (machine.Setting("devices") == 0) return kNoDevice;
  if (machine.initialised) return kSuccess;
  machine.initialised = true;
  machine.owner = static_cast<int>(getpid());
  for (int i = 0; i < machine.Setting("devices"); ++i) machine.contexts.push_back(MakeContext(i));
  static const int registered = std::atexit([] {
    Machine::Get().exiting = true;
    SayUntold();
  });
  return registered == 0 ? kSuccess : kOutOfMemory;
}

Result cuDriverGetVersion(int* version) {
  *version = static_cast<int>(Machine::Get().Setting("driver_version"));
  return kSuccess;
}

Result cuGetErrorName(Result error, const char** name) {
  const Named* found = Find(error);
  *name = found ? found->name : nullptr;
  return found ? kSuccess : kInvalidValue;
}

Result cuGetErrorString(Result error, const char** text) {
  const Named* found = Find(error);
  *text = found ? found->text : nullptr;
  Machine& machine = Machine::Get();
  const auto report = machine.reports.find(error);
  if (found != nullptr && report != machine.reports.end()) {
    machine.texts.push_back(std::string(found->text) + ": " + report->second);
    *text = machine.texts.back().c_str();
    machine.told.insert(error);
  }
  return found ? kSuccess : kInvalidValue;
}

Result cuDeviceGetCount(int* count) {
  *count = static_cast<int>(Machine::Get().Setting("devices"));
  return kSuccess;
}

Result cuDeviceGet(DeviceHandle* device, int ordinal) {
  if (!IsDevice(ordinal)) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

Result cuDeviceGetName(char* name, int size, DeviceHandle device) {
  if (!IsDevice(device)) return kInvalidDevice;
  std::snprintf(name, static_cast<size_t>(size), "%s GPU %d (sm_%d)",
                Machine::Get().Setting("disguised") != 0 ? "NVIDIA" : "Emulated", device, Machine::Get().Arch(device));
  return kSuccess;
}

Result cuDeviceGetAttribute(int* value, DeviceAttribute attribute, DeviceHandle device) {
  if (!IsDevice(device)) return kInvalidDevice;
  *value = Attribute(attribute, device);
  return *value < 0 ? kInvalidValue : kSuccess;
}

Result cuDeviceTotalMem(size_t* bytes, DeviceHandle device) {
  if (!IsDevice(device)) return kInvalidDevice;
  *bytes = static_cast<size_t>(Machine::Get().Setting("memory_bytes"));
  return kSuccess;
}

Result cuDeviceCanAccessPeer(int* can, DeviceHandle device, DeviceHandle peer) {
  if (!IsDevice(device) || !IsDevice(peer)) return kInvalidDevice;
  *can = device != peer && Machine::Get().Setting("peers") != 0;
  return kSuccess;
}

Result cuDevicePrimaryCtxRetain(Context* context, DeviceHandle device) {
  if (!IsDevice(device)) return kInvalidDevice;
  *context = Machine::Get().contexts[static_cast<size_t>(device)].get();
  (*context)->retained = true;
  return kSuccess;
}

Result cuCtxGetCurrent(Context* context) {
  *context = ContextStack().empty() ? nullptr : ContextStack().back();
  return kSuccess;
}

Result cuCtxSetCurrent(Context context) {
  if (ContextStack().empty()) ContextStack().push_back(nullptr);
  ContextStack().back() = context;
  return kSuccess;
}

Result cuCtxGetDevice(DeviceHandle* device) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); context == nullptr) return result;
  *device = context->device;
  return kSuccess;
}

Result cuCtxPushCurrent(Context context) {
  if (context == nullptr) return kInvalidContext;
  ContextStack().push_back(context);
  return kSuccess;
}

Result cuCtxPopCurrent(Context* context) {
  if (ContextStack().empty()) return kInvalidContext;
  *context = ContextStack().back();
  ContextStack().pop_back();
  return kSuccess;
}

Result cuCtxEnablePeerAccess(Context peer, unsigned flags) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (flags != 0 || peer == nullptr || peer == context) return kInvalidValue;
  return context->peers.insert(peer).second ? kSuccess : kPeerAccessAlreadyEnabled;
}

}  // namespace kernpack::cuda
