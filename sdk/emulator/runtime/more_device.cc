// Facts and settings of devices that only programs ask for, and code that they load themselves.
#include <cstring>

#include "driver/machine.h"
#include "runtime/runtime.h"

using namespace kernpack::cuda::runtime;
using namespace kernpack::cuda;

KP_RUNTIME_API Error cudaInitDevice(int device, unsigned /*device_flags*/, unsigned /*flags*/) {
  int can = 0;
  if (const auto result = Driver().cuInit(0); result != kernpack::cuda::kSuccess) return Said(result);
  return Said(Driver().cuDeviceGet(&can, device));
}
KP_RUNTIME_API Error cudaSetDeviceFlags(unsigned /*flags*/) { return kernpack::cuda::kSuccess; }
KP_RUNTIME_API Error cudaGetDeviceFlags(unsigned* flags) { return Called(Driver().cuCtxGetFlags, flags); }
KP_RUNTIME_API Error cudaChooseDevice(int* device, const void* /*properties*/) {
  *device = 0;
  return Ready();
}

// All work is done, and this thread has no error any more. Memory stays: other threads may use it.
KP_RUNTIME_API Error cudaDeviceReset() {
  const Error error = Called(Driver().cuCtxSynchronize);
  ForgetError();
  return error;
}
KP_RUNTIME_API Error cudaThreadSynchronize() { return Called(Driver().cuCtxSynchronize); }

KP_RUNTIME_API Error cudaDeviceGetLimit(size_t* value, Limit limit) {
  return Called(Driver().cuCtxGetLimit, value, limit);
}
KP_RUNTIME_API Error cudaDeviceSetLimit(Limit limit, size_t value) {
  return Called(Driver().cuCtxSetLimit, limit, value);
}
KP_RUNTIME_API Error cudaDeviceGetCacheConfig(CacheConfig* config) {
  return Called(Driver().cuCtxGetCacheConfig, config);
}
KP_RUNTIME_API Error cudaDeviceSetCacheConfig(CacheConfig config) {
  return Called(Driver().cuCtxSetCacheConfig, config);
}
KP_RUNTIME_API Error cudaFuncSetSharedMemConfig(const void* /*host*/, int /*config*/) { return Ready(); }
KP_RUNTIME_API Error cudaDeviceSetSharedMemConfig(int /*config*/) { return Ready(); }
KP_RUNTIME_API Error cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return Called(Driver().cuDeviceGetPCIBusId, text, size, device);
}

KP_RUNTIME_API Error cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return Called(Driver().cuDeviceCanAccessPeer, can, device, peer);
}
KP_RUNTIME_API Error cudaDeviceEnablePeerAccess(int device, unsigned flags) {
  if (const Error error = Ready(); error != kernpack::cuda::kSuccess) return error;
  Context peer = nullptr;
  if (const auto result = Driver().cuDevicePrimaryCtxRetain(&peer, device); result != kernpack::cuda::kSuccess) {
    return Said(result);
  }
  return Said(Driver().cuCtxEnablePeerAccess(peer, flags));
}
KP_RUNTIME_API Error cudaDeviceDisablePeerAccess(int device) {
  if (const Error error = Ready(); error != kernpack::cuda::kSuccess) return error;
  Context peer = nullptr;
  if (const auto result = Driver().cuDevicePrimaryCtxRetain(&peer, device); result != kernpack::cuda::kSuccess) {
    return Said(result);
  }
  return Said(Driver().cuCtxDisablePeerAccess(peer));
}

KP_RUNTIME_API Error cudaProfilerStart() { return Ready(); }
KP_RUNTIME_API Error cudaProfilerStop() { return Ready(); }

// Entries of the driver by their names: `found` is 0, or 1 for none, 2 for one of a newer version.
KP_RUNTIME_API Error cudaGetDriverEntryPointByVersion(const char* name, void** entry, unsigned version,
                                                      unsigned long long flags, ProcAddressStatus* found) {
  ProcAddressStatus status{};
  cuGetProcAddress_v2(name, entry, static_cast<int>(version), flags, &status);
  if (found != nullptr) *found = status;
  return found != nullptr || status == kProcFound ? kernpack::cuda::kSuccess : Said(kNotFound);
}
KP_RUNTIME_API Error cudaGetDriverEntryPoint(const char* name, void** entry, unsigned long long flags,
                                             ProcAddressStatus* found) {
  return cudaGetDriverEntryPointByVersion(name, entry, 13000, flags, found);
}

KP_RUNTIME_API Error cudaLibraryLoadData(Library* library, const void* image, JitOption* options, void** values,
                                         unsigned count, void* library_options, void** library_values,
                                         unsigned library_count) {
  return Called(Driver().cuLibraryLoadData, library, image, options, values, count, library_options, library_values,
                library_count);
}
KP_RUNTIME_API Error cudaLibraryUnload(Library library) { return Called(Driver().cuLibraryUnload, library); }
KP_RUNTIME_API Error cudaLibraryGetKernel(FunctionHandle* kernel, Library library, const char* name) {
  return Called(Driver().cuLibraryGetKernel, kernel, library, name);
}
KP_RUNTIME_API Error cudaLibraryGetGlobal(void** address, size_t* bytes, Library library, const char* name) {
  return Called(Driver().cuLibraryGetGlobal, reinterpret_cast<DevicePtr*>(address), bytes, library, name);
}
KP_RUNTIME_API Error cudaKernelSetAttributeForDevice(FunctionHandle kernel, FunctionAttribute attribute, int value,
                                                     int device) {
  return Called(Driver().cuKernelSetAttribute, attribute, value, kernel, device);
}
KP_RUNTIME_API Error cudaGetFuncBySymbol(FunctionHandle* function, const void* host) {
  return FindFunction(host, function);
}
KP_RUNTIME_API Error cudaGetKernel(FunctionHandle* kernel, const void* host) { return FindFunction(host, kernel); }
KP_RUNTIME_API Error cudaFuncGetName(const char** name, const void* host) {
  FunctionHandle function = nullptr;
  if (const Error error = FindFunction(host, &function); error != kernpack::cuda::kSuccess) return error;
  return Said(Driver().cuFuncGetName(name, function));
}
KP_RUNTIME_API Error cudaFuncGetParamInfo(const void* host, size_t index, size_t* offset, size_t* bytes) {
  FunctionHandle function = nullptr;
  if (const Error error = FindFunction(host, &function); error != kernpack::cuda::kSuccess) return error;
  return Said(Driver().cuFuncGetParamInfo(function, index, offset, bytes));
}
KP_RUNTIME_API Error cudaOccupancyMaxActiveClusters(int* clusters, const void* host, const LaunchArguments* launch) {
  FunctionHandle function = nullptr;
  if (const Error error = FindFunction(host, &function); error != kernpack::cuda::kSuccess) return error;
  const LaunchConfig config{launch->grid.x,
                            launch->grid.y,
                            launch->grid.z,
                            launch->block.x,
                            launch->block.y,
                            launch->block.z,
                            static_cast<unsigned>(launch->shared_bytes),
                            launch->stream,
                            launch->attributes,
                            launch->attribute_count};
  return Said(Driver().cuOccupancyMaxActiveClusters(clusters, function, &config));
}
