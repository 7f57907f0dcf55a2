// Code that every generated module needs and that no generator writes: instances, checks of arguments, scratch memory, threads. Plain C.
//
// Generated code calls these functions. The JIT gives it those of the generator's own library; an exported module has
// them linked in, from the object that the SDK's build makes of this folder (CMakeLists.txt).
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_FRAME_FRAME_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_FRAME_FRAME_H_

#include "codegen/frame/arguments.h"

#ifdef __cplusplus
extern "C" {
#endif

// Every function returns 0, or -1 with an error raised. `self` is the KpInstance of the call.

// KpModule::create, for the module of that name (static storage), and destroy.
int kp_frame_create(const KpHost* host, const char* module, KpInstance** out);
void kp_frame_destroy(KpInstance* instance);

// Checks arguments and writes them to `slots`: a scalar is one slot (bits of an int64_t, or of a double for every float
// type); a tensor is its address, then its extents. Tensors must be compact and on the CPU.
int kp_frame_unpack(void* self, const KpFrameFunction* function, const KpAny* args, int32_t n, uint64_t* slots);

// Raises: extent `axis` of parameter `param` is not what the function's other arguments make it.
int kp_frame_extent(void* self, const KpFrameFunction* function, int32_t param, int32_t axis, int64_t got,
                    int64_t expected);

// Raises an error of that kind.
int kp_frame_raise(void* self, const char* kind, const char* message);
// Raises an error like kp_frame_raise, with `count` values in the places "{}" of the message.
int kp_frame_raise_with(void* self, const char* kind, const char* message, const int64_t* values, int32_t count);

// Memory for the product of `rank` extents, kept between calls under `key`: of that device, or of this thread where it is NULL.
// flags: KpWorkspaceFlags.
int kp_frame_scratch(void* self, const KpDLDevice* device, const char* key, uint32_t flags, uint64_t element_bytes,
                     int32_t rank, const int64_t* extents, void** out);

// Runs body over [0, n) on the threads of the call, in chunks of at least `grain`.
int kp_frame_parallel(void* self, int64_t n, int64_t grain, KpParallelBody body, void* context);

// KpHost::workspace and KpHost::parallel_for under a foreign host, whose table has neither. In frames of libraries alone.
int kp_frame_foreign_workspace(const KpHost* host, const KpStorageKey* key, uint64_t bytes, uint32_t flags,
                               void** out_data);
int kp_frame_foreign_parallel_for(const KpHost* host, int64_t n, int64_t grain, KpParallelBody body, void* context);

#ifdef __cplusplus
}
#endif

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_FRAME_FRAME_H_
