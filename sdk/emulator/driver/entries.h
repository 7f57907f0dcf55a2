// Every driver function that the emulated device has: those that the CUDA backend calls, and those that only other programs do.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_ENTRIES_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_ENTRIES_H_

#include "backends/cuda/driver_entries.h"

namespace kernpack::cuda {

// CUlimit: how much of the device some features of kernels may use.
enum Limit : int { kStackSize = 0, kPrintfFifoSize = 1, kMallocHeapSize = 2 };
// CUtensorMapDataType, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill: as numbers, of
// which entries_tensor_map.cc says which there are.
enum TensorMapType : int {};
enum TensorMapInterleave : int {};
enum TensorMapSwizzle : int {};
enum TensorMapPromotion : int {};
enum TensorMapFill : int {};
// CUfunc_cache, a hint.
enum CacheConfig : int {};

}  // namespace kernpack::cuda

// Called by programs that link libcuda.so.1, Triton's launcher for one.
#define KP_EMULATOR_OTHER_ENTRIES(X)                                                                                 \
  X(cuCtxSynchronize, 2000, ())                                                                                      \
  X(cuCtxGetLimit, 3010, (size_t* value, Limit limit))                                                               \
  X(cuCtxSetLimit, 3010, (Limit limit, size_t value))                                                                \
  X(cuMemcpyHtoD, 3020, (DevicePtr to, const void* from, size_t bytes))                                              \
  X(cuMemcpyDtoH, 3020, (void* to, DevicePtr from, size_t bytes))                                                    \
  X(cuMemcpyDtoD, 3020, (DevicePtr to, DevicePtr from, size_t bytes))                                                \
  X(cuMemsetD8, 3020, (DevicePtr to, unsigned char value, size_t count))                                             \
  X(cuStreamCreate, 2000, (Stream * stream, unsigned flags))                                                         \
  X(cuModuleLoadData, 2000, (ModuleHandle * module, const void* image))                                              \
  X(cuFuncSetCacheConfig, 3000, (FunctionHandle function, CacheConfig config))                                       \
  X(cuTensorMapEncodeTiled, 12000,                                                                                   \
    (void* map, TensorMapType type, unsigned rank, void* address, const unsigned long long* dims,                    \
     const unsigned long long* strides, const unsigned* box, const unsigned* steps, TensorMapInterleave interleave,  \
     TensorMapSwizzle swizzle, TensorMapPromotion promotion, TensorMapFill fill))                                    \
  X(cuOccupancyMaxActiveClusters, 11070, (int* clusters, FunctionHandle function, const LaunchConfig* config))       \
  X(cuLaunchKernel, 4000,                                                                                            \
    (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra))

#define KP_EMULATOR_ENTRIES(X) \
  KP_CUDA_ENTRIES(X)           \
  KP_CUDA_OPTIONAL_ENTRIES(X)  \
  KP_EMULATOR_OTHER_ENTRIES(X)

// The names in object files of functions that cuda.h gives a suffix.
#define KP_EMULATOR_SUFFIXED_NAMES(X)      \
  X(cuDeviceTotalMem_v2, cuDeviceTotalMem) \
  X(cuCtxPushCurrent_v2, cuCtxPushCurrent) \
  X(cuCtxPopCurrent_v2, cuCtxPopCurrent)   \
  X(cuMemGetInfo_v2, cuMemGetInfo)         \
  X(cuMemAlloc_v2, cuMemAlloc)             \
  X(cuMemFree_v2, cuMemFree)               \
  X(cuMemcpyHtoD_v2, cuMemcpyHtoD)         \
  X(cuMemcpyDtoH_v2, cuMemcpyDtoH)         \
  X(cuMemcpyDtoD_v2, cuMemcpyDtoD)         \
  X(cuMemcpy2DAsync_v2, cuMemcpy2DAsync)   \
  X(cuMemsetD8_v2, cuMemsetD8)             \
  X(cuStreamDestroy_v2, cuStreamDestroy)   \
  X(cuEventDestroy_v2, cuEventDestroy)     \
  X(cuEventElapsedTime_v2, cuEventElapsedTime)

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_ENTRIES_H_
