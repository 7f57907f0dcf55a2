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
using Graph = struct GraphOpaque*;
using GraphExec = struct GraphExecOpaque*;
using GraphNode = struct GraphNodeOpaque*;
// CUgraphNodeType, those that there are here.
enum NodeType : int { kNodeKernel, kNodeMemcpy, kNodeMemset, kNodeHost, kNodeGraph, kNodeEmpty };
// CUDA_KERNEL_NODE_PARAMS_v2; the earlier form ends before `kernel`.
struct KernelNodeParams {
  FunctionHandle function;
  unsigned grid[3], block[3], shared_bytes;
  void** parameters;
  void** extra;
  FunctionHandle kernel;  // if `function` is NULL
  Context context;
};
// CUDA_MEMSET_NODE_PARAMS.
struct MemsetNodeParams {
  DevicePtr to;
  size_t pitch;
  unsigned value, element_bytes;
  size_t width, height;
};
// CUDA_MEMCPY3D.
struct Memcpy3D {
  struct End {
    size_t x, y, z, level;
    MemoryType type;
    void* host;
    DevicePtr device;
    void* array;
    void* reserved;
    size_t pitch, height;
  };
  End from, to;
  size_t width, height, depth;
};
// CUgraphExecUpdateResultInfo.
enum GraphUpdate : int { kUpdateSuccess = 0, kUpdateTopologyChanged = 2, kUpdateNodeTypeChanged = 3 };
struct GraphUpdateInfo {
  GraphUpdate result;
  GraphNode node, from;
};
using Library = struct LibraryOpaque*;
using LinkState = struct LinkStateOpaque*;
using HostFunction = void (*)(void* data);
// CUDA_HOST_NODE_PARAMS.
struct HostNodeParams {
  HostFunction function;
  void* data;
};
using StreamCallback = void (*)(Stream stream, Result status, void* data);
using BlockToShared = size_t (*)(int block_size);
struct Uuid {
  char bytes[16];
};
// CUipcMemHandle, CUipcEventHandle.
struct IpcHandle {
  char bytes[64];
};
struct MemAccess {
  MemLocation location;
  int flags;
};
// CUmemAllocationProp.
struct MemAllocationProps {
  MemAllocationType type;
  MemHandleType handle_types;
  MemLocation location;
  void* win32_security_attributes;
  unsigned char hints[8];
};

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
  X(cuTensorMapEncodeIm2col, 12000,                                                                                  \
    (void* map, TensorMapType type, unsigned rank, void* address, const unsigned long long* dims,                    \
     const unsigned long long* strides, const int* lower, const int* upper, unsigned channels, unsigned pixels,      \
     const unsigned* steps, TensorMapInterleave interleave, TensorMapSwizzle swizzle, TensorMapPromotion promotion,  \
     TensorMapFill fill))                                                                                            \
  X(cuOccupancyMaxActiveClusters, 11070, (int* clusters, FunctionHandle function, const LaunchConfig* config))       \
  X(cuLaunchKernel, 4000,                                                                                            \
    (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra))

// Devices, contexts, streams and graphs: entries_context.cc, entries_graph.cc.
#define KP_EMULATOR_STREAM_ENTRIES(X)                                                                             \
  X(cuDeviceGetUuid, 11040, (Uuid * uuid, DeviceHandle device))                                                   \
  X(cuDeviceGetPCIBusId, 4010, (char* text, int size, DeviceHandle device))                                       \
  X(cuDeviceGetDefaultMemPool, 11020, (Pool * pool, DeviceHandle device))                                         \
  X(cuDeviceGetMemPool, 11020, (Pool * pool, DeviceHandle device))                                                \
  X(cuDevicePrimaryCtxRelease, 11000, (DeviceHandle device))                                                      \
  X(cuDevicePrimaryCtxGetState, 7000, (DeviceHandle device, unsigned* flags, int* active))                        \
  X(cuDevicePrimaryCtxSetFlags, 11000, (DeviceHandle device, unsigned flags))                                     \
  X(cuCtxGetFlags, 7000, (unsigned* flags))                                                                       \
  X(cuCtxGetApiVersion, 3020, (Context context, unsigned* version))                                               \
  X(cuCtxGetStreamPriorityRange, 5050, (int* least, int* greatest))                                               \
  X(cuCtxGetCacheConfig, 3020, (CacheConfig * config))                                                            \
  X(cuCtxSetCacheConfig, 3020, (CacheConfig config))                                                              \
  X(cuCtxDisablePeerAccess, 4000, (Context peer))                                                                 \
  X(cuStreamGetPriority, 5050, (Stream stream, int* priority))                                                    \
  X(cuStreamGetFlags, 5050, (Stream stream, unsigned* flags))                                                     \
  X(cuStreamGetCtx, 9020, (Stream stream, Context * context))                                                     \
  X(cuStreamGetId, 12000, (Stream stream, unsigned long long* id))                                                \
  X(cuStreamAddCallback, 5000, (Stream stream, StreamCallback callback, void* data, unsigned flags))              \
  X(cuLaunchHostFunc, 10000, (Stream stream, HostFunction function, void* data))                                  \
  X(cuEventRecordWithFlags, 11010, (Event event, Stream stream, unsigned flags))                                  \
  X(cuStreamBeginCapture, 10010, (Stream stream, CaptureMode mode))                                               \
  X(cuStreamEndCapture, 10000, (Stream stream, Graph * graph))                                                    \
  X(cuStreamGetCaptureInfo, 12030,                                                                                \
    (Stream stream, CaptureStatus * status, unsigned long long* id, Graph* graph, const void** dependencies,      \
     const void** edges, size_t* count))                                                                          \
  X(cuGraphInstantiateWithFlags, 11040, (GraphExec * exec, Graph graph, unsigned long long flags))                \
  X(cuGraphLaunch, 10000, (GraphExec exec, Stream stream))                                                        \
  X(cuGraphExecDestroy, 10000, (GraphExec exec))                                                                  \
  X(cuGraphDestroy, 10000, (Graph graph))                                                                         \
  X(cuCtxCreate, 3020, (Context * context, unsigned flags, DeviceHandle device))                                  \
  X(cuCtxCreate_v3, 11040, (Context * context, void* affinities, int count, unsigned flags, DeviceHandle device)) \
  X(cuCtxCreate_v4, 12050, (Context * context, void* parameters, unsigned flags, DeviceHandle device))            \
  X(cuCtxDestroy, 4000, (Context context))                                                                        \
  X(cuDeviceComputeCapability, 2000, (int* major, int* minor, DeviceHandle device))                               \
  X(cuDeviceGetByPCIBusId, 4010, (DeviceHandle * device, const char* text))                                       \
  X(cuProfilerStart, 4000, ())                                                                                    \
  X(cuProfilerStop, 4000, ())

// Nodes of graphs: entries_graph_nodes.cc.
#define KP_EMULATOR_NODE_ENTRIES(X)                                                                                 \
  X(cuGraphCreate, 10000, (Graph * graph, unsigned flags))                                                          \
  X(cuStreamBeginCaptureToGraph, 12030,                                                                             \
    (Stream stream, Graph graph, const GraphNode* after, const void* edges, size_t count, CaptureMode mode))        \
  X(cuGraphDebugDotPrint, 11030, (Graph graph, const char* path, unsigned flags))                                   \
  X(cuDeviceGetGraphMemAttribute, 11040, (DeviceHandle device, int attribute, void* value))                         \
  X(cuDeviceSetGraphMemAttribute, 11040, (DeviceHandle device, int attribute, void* value))                         \
  X(cuDeviceGraphMemTrim, 11040, (DeviceHandle device))                                                             \
  X(cuGraphClone, 10000, (Graph * clone, Graph graph))                                                              \
  X(cuGraphAddKernelNode, 10000,                                                                                    \
    (GraphNode * node, Graph graph, const GraphNode* after, size_t count, const KernelNodeParams* parameters))      \
  X(cuGraphAddMemcpyNode, 10000,                                                                                    \
    (GraphNode * node, Graph graph, const GraphNode* after, size_t count, const Memcpy3D* copy, Context context))   \
  X(cuGraphAddMemsetNode, 10000,                                                                                    \
    (GraphNode * node, Graph graph, const GraphNode* after, size_t count, const MemsetNodeParams* fill,             \
     Context context))                                                                                              \
  X(cuGraphAddHostNode, 10000,                                                                                      \
    (GraphNode * node, Graph graph, const GraphNode* after, size_t count, const HostNodeParams* host))              \
  X(cuGraphAddEmptyNode, 10000, (GraphNode * node, Graph graph, const GraphNode* after, size_t count))              \
  X(cuGraphAddChildGraphNode, 10000,                                                                                \
    (GraphNode * node, Graph graph, const GraphNode* after, size_t count, Graph child))                             \
  X(cuGraphAddDependencies, 10000, (Graph graph, const GraphNode* from, const GraphNode* to, size_t count))         \
  X(cuGraphAddDependencies_v2, 12030,                                                                               \
    (Graph graph, const GraphNode* from, const GraphNode* to, const void* edges, size_t count))                     \
  X(cuGraphGetNodes, 10000, (Graph graph, GraphNode * nodes, size_t* count))                                        \
  X(cuGraphNodeGetType, 10000, (GraphNode node, NodeType * type))                                                   \
  X(cuGraphDestroyNode, 10000, (GraphNode node))                                                                    \
  X(cuGraphKernelNodeGetParams, 10000, (GraphNode node, KernelNodeParams * out))                                    \
  X(cuGraphKernelNodeSetParams, 10000, (GraphNode node, const KernelNodeParams* parameters))                        \
  X(cuGraphExecKernelNodeSetParams, 10010, (GraphExec exec, GraphNode node, const KernelNodeParams* parameters))    \
  X(cuGraphExecMemcpyNodeSetParams, 10020, (GraphExec exec, GraphNode node, const Memcpy3D* copy, Context context)) \
  X(cuGraphExecMemsetNodeSetParams, 10020,                                                                          \
    (GraphExec exec, GraphNode node, const MemsetNodeParams* fill, Context context))                                \
  X(cuGraphExecHostNodeSetParams, 10020, (GraphExec exec, GraphNode node, const HostNodeParams* host))              \
  X(cuGraphExecUpdate, 12000, (GraphExec exec, Graph graph, GraphUpdateInfo * info))

// Memory: entries_more_memory.cc.
#define KP_EMULATOR_MEMORY_ENTRIES(X)                                                                                  \
  X(cuMemcpy, 4000, (DevicePtr to, DevicePtr from, size_t bytes))                                                      \
  X(cuMemcpyHtoDAsync, 3020, (DevicePtr to, const void* from, size_t bytes, Stream stream))                            \
  X(cuMemcpyDtoHAsync, 3020, (void* to, DevicePtr from, size_t bytes, Stream stream))                                  \
  X(cuMemcpyDtoDAsync, 3020, (DevicePtr to, DevicePtr from, size_t bytes, Stream stream))                              \
  X(cuMemcpy2D, 3020, (const Memcpy2D* copy))                                                                          \
  X(cuMemsetD16, 3020, (DevicePtr to, unsigned short value, size_t count))                                             \
  X(cuMemsetD32, 3020, (DevicePtr to, unsigned value, size_t count))                                                   \
  X(cuMemsetD16Async, 3020, (DevicePtr to, unsigned short value, size_t count, Stream stream))                         \
  X(cuMemsetD32Async, 3020, (DevicePtr to, unsigned value, size_t count, Stream stream))                               \
  X(cuStreamWriteValue32, 11070, (Stream stream, DevicePtr to, unsigned value, unsigned flags))                        \
  X(cuStreamWriteValue64, 11070, (Stream stream, DevicePtr to, unsigned long long value, unsigned flags))              \
  X(cuMemAllocHost, 3020, (void** pointer, size_t bytes))                                                              \
  X(cuMemHostRegister, 6050, (void* pointer, size_t bytes, unsigned flags))                                            \
  X(cuMemHostUnregister, 4000, (void* pointer))                                                                        \
  X(cuMemHostGetDevicePointer, 3020, (DevicePtr * out, void* pointer, unsigned flags))                                 \
  X(cuMemHostGetFlags, 2030, (unsigned* flags, void* pointer))                                                         \
  X(cuMemAllocPitch, 3020, (DevicePtr * out, size_t* pitch, size_t width, size_t height, unsigned element))            \
  X(cuMemAllocAsync, 11020, (DevicePtr * out, size_t bytes, Stream stream))                                            \
  X(cuMemPoolDestroy, 11020, (Pool pool))                                                                              \
  X(cuMemPoolSetAccess, 11020, (Pool pool, const MemAccess* list, size_t count))                                       \
  X(cuMemGetAddressRange, 3020, (DevicePtr * begin, size_t* bytes, DevicePtr pointer))                                 \
  X(cuMemAdvise, 12020, (DevicePtr pointer, size_t bytes, int advice, MemLocation location))                           \
  X(cuMemPrefetchAsync, 12020, (DevicePtr pointer, size_t bytes, MemLocation location, unsigned flags, Stream stream)) \
  X(cuPointerGetAttributes, 7000, (unsigned count, PointerAttribute* attributes, void** data, DevicePtr pointer))

// Virtual memory management: entries_virtual.cc.
#define KP_EMULATOR_VIRTUAL_ENTRIES(X)                                                                           \
  X(cuMemAddressReserve, 10020,                                                                                  \
    (DevicePtr * address, size_t bytes, size_t alignment, DevicePtr wish, unsigned long long flags))             \
  X(cuMemAddressFree, 10020, (DevicePtr address, size_t bytes))                                                  \
  X(cuMemCreate, 10020,                                                                                          \
    (unsigned long long* handle, size_t bytes, const MemAllocationProps* properties, unsigned long long flags))  \
  X(cuMemRelease, 10020, (unsigned long long handle))                                                            \
  X(cuMemMap, 10020,                                                                                             \
    (DevicePtr address, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags))       \
  X(cuMemUnmap, 10020, (DevicePtr address, size_t bytes))                                                        \
  X(cuMemSetAccess, 10020, (DevicePtr address, size_t bytes, const MemAccess* list, size_t count))               \
  X(cuMemGetAccess, 10020, (unsigned long long* flags, const MemLocation* location, DevicePtr address))          \
  X(cuMemGetAllocationGranularity, 10020, (size_t* bytes, const MemAllocationProps* properties, int option))     \
  X(cuMemGetAllocationPropertiesFromHandle, 10020, (MemAllocationProps * properties, unsigned long long handle)) \
  X(cuMemRetainAllocationHandle, 11000, (unsigned long long* handle, void* address))                             \
  X(cuMemExportToShareableHandle, 10020,                                                                         \
    (void* out, unsigned long long handle, MemHandleType type, unsigned long long flags))                        \
  X(cuMemImportFromShareableHandle, 10020, (unsigned long long* handle, void* shared, MemHandleType type))

// Other processes: entries_ipc.cc.
#define KP_EMULATOR_IPC_ENTRIES(X)                                                  \
  X(cuIpcGetMemHandle, 4010, (IpcHandle * handle, DevicePtr pointer))               \
  X(cuIpcOpenMemHandle, 11000, (DevicePtr * out, IpcHandle handle, unsigned flags)) \
  X(cuIpcCloseMemHandle, 4010, (DevicePtr pointer))                                 \
  X(cuIpcGetEventHandle, 4010, (IpcHandle * handle, Event event))                   \
  X(cuIpcOpenEventHandle, 4010, (Event * event, IpcHandle handle))

// Code: entries_library.cc.
#define KP_EMULATOR_CODE_ENTRIES(X)                                                                                    \
  X(cuModuleLoad, 2000, (ModuleHandle * module, const char* path))                                                     \
  X(cuModuleLoadFatBinary, 2000, (ModuleHandle * module, const void* image))                                           \
  X(cuModuleGetGlobal, 3020, (DevicePtr * address, size_t* bytes, ModuleHandle module, const char* name))              \
  X(cuModuleGetLoadingMode, 11070, (int* mode))                                                                        \
  X(cuFuncGetName, 12030, (const char** name, FunctionHandle function))                                                \
  X(cuFuncGetModule, 11000, (ModuleHandle * module, FunctionHandle function))                                          \
  X(cuLibraryLoadData, 12000,                                                                                          \
    (Library * library, const void* image, JitOption* options, void** values, unsigned option_count,                   \
     void* library_options, void** library_values, unsigned library_option_count))                                     \
  X(cuLibraryUnload, 12000, (Library library))                                                                         \
  X(cuLibraryGetKernel, 12000, (FunctionHandle * kernel, Library library, const char* name))                           \
  X(cuLibraryGetModule, 12000, (ModuleHandle * module, Library library))                                               \
  X(cuLibraryGetGlobal, 12000, (DevicePtr * address, size_t* bytes, Library library, const char* name))                \
  X(cuKernelGetFunction, 12000, (FunctionHandle * function, FunctionHandle kernel))                                    \
  X(cuKernelGetAttribute, 12000,                                                                                       \
    (int* value, FunctionAttribute attribute, FunctionHandle kernel, DeviceHandle device))                             \
  X(cuKernelSetAttribute, 12000, (FunctionAttribute attribute, int value, FunctionHandle kernel, DeviceHandle device)) \
  X(cuLinkCreate, 6050, (unsigned count, JitOption* options, void** values, LinkState* state))                         \
  X(cuLinkAddData, 6050,                                                                                               \
    (LinkState state, int type, void* data, size_t size, const char* name, unsigned count, JitOption* options,         \
     void** values))                                                                                                   \
  X(cuLinkAddFile, 6050,                                                                                               \
    (LinkState state, int type, const char* path, unsigned count, JitOption* options, void** values))                  \
  X(cuLibraryLoadFromFile, 12000,                                                                                      \
    (Library * library, const char* path, JitOption* options, void** values, unsigned option_count,                    \
     void* library_options, void** library_values, unsigned library_option_count))                                     \
  X(cuLinkComplete, 5050, (LinkState state, void** image, size_t* size))                                               \
  X(cuLinkDestroy, 5050, (LinkState state))                                                                            \
  X(cuLaunchCooperativeKernel, 9000,                                                                                   \
    (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,   \
     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters))                                       \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,                                                                 \
    (int* count, FunctionHandle function, int threads, size_t dynamic_shared))                                         \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000,                                                        \
    (int* count, FunctionHandle function, int threads, size_t dynamic_shared, unsigned flags))                         \
  X(cuOccupancyMaxPotentialBlockSize, 6050,                                                                            \
    (int* grid, int* threads, FunctionHandle function, BlockToShared shared_of, size_t dynamic_shared, int limit))     \
  X(cuOccupancyAvailableDynamicSMemPerBlock, 10020, (size_t* bytes, FunctionHandle function, int blocks, int threads))

#define KP_EMULATOR_ENTRIES(X)   \
  KP_CUDA_ENTRIES(X)             \
  KP_CUDA_OPTIONAL_ENTRIES(X)    \
  KP_EMULATOR_OTHER_ENTRIES(X)   \
  KP_EMULATOR_STREAM_ENTRIES(X)  \
  KP_EMULATOR_NODE_ENTRIES(X)    \
  KP_EMULATOR_MEMORY_ENTRIES(X)  \
  KP_EMULATOR_VIRTUAL_ENTRIES(X) \
  KP_EMULATOR_IPC_ENTRIES(X)     \
  KP_EMULATOR_CODE_ENTRIES(X)

// The names in object files of functions that cuda.h gives a suffix.
#define KP_EMULATOR_SUFFIXED_NAMES(X)                                  \
  X(cuDeviceTotalMem_v2, cuDeviceTotalMem)                             \
  X(cuCtxPushCurrent_v2, cuCtxPushCurrent)                             \
  X(cuCtxPopCurrent_v2, cuCtxPopCurrent)                               \
  X(cuMemGetInfo_v2, cuMemGetInfo)                                     \
  X(cuMemAlloc_v2, cuMemAlloc)                                         \
  X(cuMemFree_v2, cuMemFree)                                           \
  X(cuMemcpyHtoD_v2, cuMemcpyHtoD)                                     \
  X(cuMemcpyDtoH_v2, cuMemcpyDtoH)                                     \
  X(cuMemcpyDtoD_v2, cuMemcpyDtoD)                                     \
  X(cuMemcpy2DAsync_v2, cuMemcpy2DAsync)                               \
  X(cuMemsetD8_v2, cuMemsetD8)                                         \
  X(cuStreamDestroy_v2, cuStreamDestroy)                               \
  X(cuEventDestroy_v2, cuEventDestroy)                                 \
  X(cuEventElapsedTime_v2, cuEventElapsedTime)                         \
  X(cuDeviceGetUuid_v2, cuDeviceGetUuid)                               \
  X(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease)           \
  X(cuDevicePrimaryCtxSetFlags_v2, cuDevicePrimaryCtxSetFlags)         \
  X(cuStreamBeginCapture_v2, cuStreamBeginCapture)                     \
  X(cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo)                 \
  X(cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync)                           \
  X(cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync)                           \
  X(cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync)                           \
  X(cuMemcpy2D_v2, cuMemcpy2D)                                         \
  X(cuMemsetD16_v2, cuMemsetD16)                                       \
  X(cuMemsetD32_v2, cuMemsetD32)                                       \
  X(cuMemAllocHost_v2, cuMemAllocHost)                                 \
  X(cuMemHostRegister_v2, cuMemHostRegister)                           \
  X(cuMemHostGetDevicePointer_v2, cuMemHostGetDevicePointer)           \
  X(cuMemAllocPitch_v2, cuMemAllocPitch)                               \
  X(cuMemGetAddressRange_v2, cuMemGetAddressRange)                     \
  X(cuMemAdvise_v2, cuMemAdvise)                                       \
  X(cuMemPrefetchAsync_v2, cuMemPrefetchAsync)                         \
  X(cuModuleGetGlobal_v2, cuModuleGetGlobal)                           \
  X(cuLinkCreate_v2, cuLinkCreate)                                     \
  X(cuLinkAddData_v2, cuLinkAddData)                                   \
  X(cuIpcOpenMemHandle_v2, cuIpcOpenMemHandle)                         \
  X(cuStreamWriteValue32_v2, cuStreamWriteValue32)                     \
  X(cuStreamWriteValue64_v2, cuStreamWriteValue64)                     \
  X(cuCtxCreate_v2, cuCtxCreate)                                       \
  X(cuCtxDestroy_v2, cuCtxDestroy)                                     \
  X(cuLinkAddFile_v2, cuLinkAddFile)                                   \
  X(cuGraphAddKernelNode_v2, cuGraphAddKernelNode)                     \
  X(cuGraphKernelNodeGetParams_v2, cuGraphKernelNodeGetParams)         \
  X(cuGraphKernelNodeSetParams_v2, cuGraphKernelNodeSetParams)         \
  X(cuGraphExecKernelNodeSetParams_v2, cuGraphExecKernelNodeSetParams) \
  X(cuGraphExecUpdate_v2, cuGraphExecUpdate)

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_ENTRIES_H_
