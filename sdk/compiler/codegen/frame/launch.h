// Further code for modules with device code: the check of the code, memory of the device, launches. Plain C.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_FRAME_LAUNCH_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_FRAME_LAUNCH_H_

#include <kernpack/device_api.h>

#include "codegen/frame/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// Code of a module for devices of one kind. Static storage.
typedef struct KpFrameCode {
  const char* target;  // what runs it: "opencl", "cuda -arch=sm_90"
  const char* format;  // "cl", "cubin", "ptx"
  const char* name;  // what loaded code is kept under
  const char* data;
  uint64_t size;
  uint64_t digest;  // FNV-1a of the data
  int32_t device_type;
  int32_t group;  // that of every code with the same target
} KpFrameCode;

// A call of a function of a device: what the functions of such a module are handed in place of the instance.
typedef struct KpFrameCall {
  void* self;
  const KpFrameCode* code;
  KpDLDevice device;  // that the tensors are on
} KpFrameCall;

// kp_frame_create() for a module with code. ImportError where some of it is not what was built.
int kp_frame_create_with_code(const KpHost* host, const char* module, const KpFrameCode* codes, int32_t n,
                              KpInstance** out);

// kp_frame_unpack(), but the tensors must be on one device, of the code's type, and the slot of a tensor has the address of its
// element of `memory`: its place on the device. `memory` has an element for each parameter. Fills `call`.
int kp_frame_unpack_device(void* self, const KpFrameFunction* function, const KpFrameCode* code, const KpAny* args,
                           int32_t n, uint64_t* slots, KpKernelArg* memory, KpFrameCall* call);

// Threads of a launch of so many blocks, then threads of a block: 3 extents each. 0 where an extent is 0 or less.
int kp_frame_threads(const KpFrameCall* call, const int64_t* extents, int64_t* out);

// An assert of a kernel. Static storage.
typedef struct KpFrameAssert {
  const char* kind;  // of its error
  const char* message;
  int32_t count;  // of its values
  int32_t reserved;
} KpFrameAssert;

// Queues the kernel of that name, unless there are no threads.
int kp_frame_launch(const KpFrameCall* call, const char* kernel, const int64_t* extents, int32_t n,
                    const KpKernelArg* args);

// The same for a kernel with asserts, whose last argument is filled in here: the word that says which one failed first. Waits for
// the kernel, and raises that one's error.
int kp_frame_launch_asserting(const KpFrameCall* call, const char* kernel, const int64_t* extents, int32_t n,
                              KpKernelArg* args, const KpFrameAssert* asserts);

// How a tensor map (CUtensorMap) is made for each launch. Innermost dimensions first; numbers as KpTensorMap has them.
typedef struct KpFrameTensorMap {
  uint32_t rank, element_type, interleave, swizzle, l2_promotion, fill;
  uint32_t box[5], steps[5];
  uint32_t extents[5], strides[4];  // which of the launch's arguments: int64_t, elements and bytes
} KpFrameTensorMap;

// Where a parameter of an imported kernel comes from. Static storage.
typedef struct KpFrameParameter {
  uint32_t argument;  // of the launch
  uint32_t reserved;
  const KpFrameTensorMap* map;  // NULL: the parameter is the argument
  const char* tensor;  // the map's, for errors
} KpFrameParameter;

// A kernel that another compiler made. Static storage.
typedef struct KpFrameKernel {
  const KpFrameCode* code;
  const char* name;
  uint64_t multiples;  // bit i: parameter i has to be a multiple of 16: the address of memory, or an integer
  uint32_t shared;  // bytes of dynamic shared memory besides those of the launch
  uint32_t cluster[3];  // blocks of a cluster; 0: as the code says
  uint32_t flags;  // KpLaunchFlags
  int32_t num_parameters;
  const KpFrameParameter* parameters;  // NULL: the arguments in order
} KpFrameKernel;

// Queues the first of the kernels that is for the target of the call's code and takes the arguments. `extents`: as above, and then
// bytes of dynamic shared memory.
int kp_frame_launch_imported(const KpFrameCall* call, const KpFrameKernel* kernels, int32_t count,
                             const int64_t* extents, int32_t n, const KpKernelArg* args);

#ifdef __cplusplus
}
#endif

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_FRAME_LAUNCH_H_
