// A CUDA driver for tests: the functions that the cuda backend looks up, over host memory, and the switches of its faults.
// What a program must not do shows: device addresses cannot be read by the host, work runs no sooner than something waits
// for it, memory from the pool exists only in the order of its streams, and what breaks a capture breaks it.
#ifndef KERNPACK_TESTS_DEVICE_FAKE_CUDA_FAKE_CUDA_H_
#define KERNPACK_TESTS_DEVICE_FAKE_CUDA_FAKE_CUDA_H_

#ifdef __cplusplus
extern "C" {
#endif

// Forgets everything, as if the driver was loaded anew, and applies the environment's FAKE_CUDA: settings and faults separated
// by ';', "devices=0", "driver_version=11080", "hide=cuMemAlloc", "fail=cuInit:999". Nobody may hold anything.
void fake_cuda_reset(void);

// Settings: "devices" (2), "driver_version" (13000), "memory_bytes" (of a device; 256 MiB), "pools", "managed", "peers" (1 or 0).
void fake_cuda_set(const char* setting, long value);
// That entry is not found.
void fake_cuda_hide(const char* entry);
// The entry returns `result` instead of working, `times` times, after `skip` calls that work.
void fake_cuda_fail(const char* entry, int result, int skip, int times);
// Everything in the device's primary context fails with `result` from now on; 0 mends it.
void fake_cuda_break(int device, int result);

// How often the entry was called.
long fake_cuda_calls(const char* entry);
// "memory" (all kinds), "pinned", "pool", "streams", "events", "modules", "contexts" (retained), "work" (not run yet).
long fake_cuda_live(const char* what);
// Entries called by a forked child; at process exit the count of calls after main() is an exit code of 86.
long fake_cuda_calls_in_child(void);

// Capture: mode is CUstreamCaptureMode. End gives the status it was in (1 good, 2 broken) and keeps the graph, which launch
// runs as often as asked for.
int fake_cuda_begin_capture(void* stream, int mode);
int fake_cuda_end_capture(void* stream);
int fake_cuda_launch_graph(void* stream);

// A stream of the kind other frameworks make.
void* fake_cuda_blocking_stream(int device);
// The primary context, made current in this thread as by another framework; NULL for none.
void* fake_cuda_use_context(int device);
void* fake_cuda_other_context(int device);
void* fake_cuda_current_context(void);

#ifdef __cplusplus
}
#endif

#endif  // KERNPACK_TESTS_DEVICE_FAKE_CUDA_FAKE_CUDA_H_
