// Every driver function that the backend calls: name, the CUDA version whose form of it we declare (as in the toolkit's
// PFN_<name>_v<version>; never newer than 12.0), and parameters. All return Result.
#ifndef KERNPACK_BACKENDS_CUDA_DRIVER_ENTRIES_H_
#define KERNPACK_BACKENDS_CUDA_DRIVER_ENTRIES_H_

#include "backends/cuda/driver_types.h"

#define KP_CUDA_ENTRIES(X)                                                                                 \
  X(cuInit, 2000, (unsigned flags))                                                                        \
  X(cuDriverGetVersion, 2020, (int* version))                                                              \
  X(cuGetErrorName, 6000, (Result error, const char** name))                                               \
  X(cuGetErrorString, 6000, (Result error, const char** text))                                             \
  X(cuDeviceGetCount, 2000, (int* count))                                                                  \
  X(cuDeviceGet, 2000, (DeviceHandle * device, int ordinal))                                               \
  X(cuDeviceGetName, 2000, (char* name, int size, DeviceHandle device))                                    \
  X(cuDeviceGetAttribute, 2000, (int* value, DeviceAttribute attribute, DeviceHandle device))              \
  X(cuDeviceTotalMem, 3020, (size_t* bytes, DeviceHandle device))                                          \
  X(cuDeviceCanAccessPeer, 4000, (int* can, DeviceHandle device, DeviceHandle peer))                       \
  X(cuDevicePrimaryCtxRetain, 7000, (Context * context, DeviceHandle device))                              \
  X(cuCtxGetCurrent, 4000, (Context * context))                                                            \
  X(cuCtxSetCurrent, 4000, (Context context))                                                              \
  X(cuCtxGetDevice, 2000, (DeviceHandle * device))                                                         \
  X(cuCtxPushCurrent, 4000, (Context context))                                                             \
  X(cuCtxPopCurrent, 4000, (Context * context))                                                            \
  X(cuCtxEnablePeerAccess, 4000, (Context peer, unsigned flags))                                           \
  X(cuMemGetInfo, 3020, (size_t* free, size_t* total))                                                     \
  X(cuMemAlloc, 3020, (DevicePtr * pointer, size_t bytes))                                                 \
  X(cuMemFree, 3020, (DevicePtr pointer))                                                                  \
  X(cuMemHostAlloc, 2020, (void** pointer, size_t bytes, unsigned flags))                                  \
  X(cuMemFreeHost, 2000, (void* pointer))                                                                  \
  X(cuMemAllocManaged, 6000, (DevicePtr * pointer, size_t bytes, unsigned flags))                          \
  X(cuMemPoolCreate, 11020, (Pool * pool, const MemPoolProps* properties))                                 \
  X(cuMemPoolSetAttribute, 11020, (Pool pool, MemPoolAttribute attribute, void* value))                    \
  X(cuMemPoolGetAttribute, 11020, (Pool pool, MemPoolAttribute attribute, void* value))                    \
  X(cuMemPoolTrimTo, 11020, (Pool pool, size_t bytes_to_keep))                                             \
  X(cuMemAllocFromPoolAsync, 11020, (DevicePtr * pointer, size_t bytes, Pool pool, Stream stream))         \
  X(cuMemFreeAsync, 11020, (DevicePtr pointer, Stream stream))                                             \
  X(cuPointerGetAttribute, 4000, (void* value, PointerAttribute attribute, DevicePtr pointer))             \
  X(cuMemcpyAsync, 4000, (DevicePtr to, DevicePtr from, size_t bytes, Stream stream))                      \
  X(cuMemcpy2DAsync, 3020, (const Memcpy2D* copy, Stream stream))                                          \
  X(cuMemcpyPeerAsync, 4000,                                                                               \
    (DevicePtr to, Context to_context, DevicePtr from, Context from_context, size_t bytes, Stream stream)) \
  X(cuMemsetD8Async, 3020, (DevicePtr to, unsigned char value, size_t count, Stream stream))               \
  X(cuStreamCreateWithPriority, 5050, (Stream * stream, unsigned flags, int priority))                     \
  X(cuStreamDestroy, 4000, (Stream stream))                                                                \
  X(cuStreamSynchronize, 2000, (Stream stream))                                                            \
  X(cuStreamQuery, 2000, (Stream stream))                                                                  \
  X(cuStreamWaitEvent, 3020, (Stream stream, Event event, unsigned flags))                                 \
  X(cuStreamIsCapturing, 10000, (Stream stream, CaptureStatus * status))                                   \
  X(cuThreadExchangeStreamCaptureMode, 10010, (CaptureMode * mode))                                        \
  X(cuEventCreate, 2000, (Event * event, unsigned flags))                                                  \
  X(cuEventDestroy, 4000, (Event event))                                                                   \
  X(cuEventRecord, 2000, (Event event, Stream stream))                                                     \
  X(cuEventQuery, 2000, (Event event))                                                                     \
  X(cuEventSynchronize, 2000, (Event event))                                                               \
  X(cuEventElapsedTime, 2000, (float* milliseconds, Event begin, Event end))                               \
  X(cuModuleLoadDataEx, 2010,                                                                              \
    (ModuleHandle * module, const void* image, unsigned option_count, JitOption* options, void** values))  \
  X(cuModuleUnload, 2000, (ModuleHandle module))                                                           \
  X(cuModuleGetFunction, 2000, (FunctionHandle * function, ModuleHandle module, const char* name))         \
  X(cuFuncGetAttribute, 2020, (int* value, FunctionAttribute attribute, FunctionHandle function))          \
  X(cuFuncSetAttribute, 9000, (FunctionHandle function, FunctionAttribute attribute, int value))           \
  X(cuLaunchKernelEx, 11060, (const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra))

// Entries of newer drivers; NULL in older drivers. Looked up as of `version`.
#define KP_CUDA_OPTIONAL_ENTRIES(X) \
  X(cuFuncGetParamInfo, 12040, (FunctionHandle function, size_t index, size_t* offset, size_t* bytes))

// As above, but the emulated device lists them itself. Enumerations are the driver's numbers.
#define KP_CUDA_TENSOR_MAP_ENTRIES(X)                                                                         \
  X(cuTensorMapEncodeTiled, 12000,                                                                            \
    (TensorMap * map, unsigned element_type, unsigned rank, void* address, const unsigned long long* extents, \
     const unsigned long long* strides, const unsigned* box, const unsigned* steps, unsigned interleave,      \
     unsigned swizzle, unsigned l2_promotion, unsigned fill))

#endif  // KERNPACK_BACKENDS_CUDA_DRIVER_ENTRIES_H_
