// The switches of the emulated driver, for tests: its devices, its faults, what it has seen. What a program must not do shows:
// device addresses cannot be read by the host, work runs no sooner than something waits for it, memory from the pool exists only
// in the order of its streams, and what breaks a capture breaks it.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_CONTROL_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_CONTROL_H_

#ifdef __cplusplus
extern "C" {
#endif

// Forgets everything, as if the driver was loaded anew, and applies the environment's KERNPACK_EMULATOR_SETTINGS: settings and faults separated
// by ';', "devices=0", "driver_version=11080", "hide=cuMemAlloc", "fail=cuInit:999". Nobody may hold anything.
void kernpack_emulator_reset(void);

// Settings: "devices" (2), "driver_version" (13050), "memory_bytes" (of a device; 8 GiB), "max_pitch" (bytes between rows of a
// copy; 2 GiB - 1), "pools", "managed", "peers" (1 or 0), "disguised" (1: devices don't say that they are emulated). Of kernels:
//   seconds      the time limit; 60
//   workers      threads of the host; 0: as many as it has
//   seed         0: warps in order, else shuffled
//   mma_order    how mma of floats sums: 0 in f64, rounded once; 1 in f32, in order; 2 in f32, groups of four from the back; 3 (the
//                default) to the bits of an H200
//   host_level   the code for the host that modules loaded from now on run on: 1 base, 2 x86-64-v3, 3 x86-64-v4, at most the
//                processor's; 0: the best it has
//   uninitialised, races, global_races: what is looked for; 1 or 0. The last are races through global memory, in memory that is allocated
//   while it is 1; 0 by default, as it takes time
void kernpack_emulator_set(const char* setting, long value);
// That entry is not found.
void kernpack_emulator_hide(const char* entry);
// The entry returns `result` instead of working, `times` times, after `skip` calls that work.
void kernpack_emulator_fail(const char* entry, int result, int skip, int times);
// Everything in the device's primary context fails with `result` from now on; 0 mends it.
void kernpack_emulator_break(int device, int result);

// How often the entry was called.
long kernpack_emulator_calls(const char* entry);
// "memory" (all kinds), "pinned", "pool", "streams", "events", "modules", "contexts" (retained), "work" (not run yet).
long kernpack_emulator_live(const char* what);
// Instructions that threads of kernels have run since the process began.
long kernpack_emulator_thread_instructions(void);
// The code for the host that modules loaded now run on, as `host_level` numbers it.
long kernpack_emulator_host_level(void);
// Begins to count what kernels do, 1, or ends it, 0; either forgets what was counted.
void kernpack_emulator_count(int on);
// Which instructions an image has, a fatbin or PTX that ends with a NUL, and which of them aren't emulated, as JSON. Of a fatbin's
// PTX, the newest for a device of architecture `arch`. Valid until the thread's next call.
const char* kernpack_emulator_survey(const void* image, long arch);
// The counts, in the format of KERNPACK_EMULATOR_COUNTS, once all queued work has run. Valid until the next call.
const char* kernpack_emulator_counts(void);
// For test runners. What kernels did wrong since the last call, as a JSON list, once all queued work has run; objects are in the format of
// KERNPACK_EMULATOR_REPORT. Valid until the thread's next call.
const char* kernpack_emulator_findings(void);
// A device that works again after an error: errors are gone, of the calling thread's runtime library too, and queued work and
// captures are dropped. Memory, streams and modules stay, since others hold them.
void kernpack_emulator_renew(void);
// Writes the launches so far to the file that KERNPACK_EMULATOR_REPORT names; otherwise that happens when the process ends.
void kernpack_emulator_write_report(void);
// The drop-in libraries call this for a function that isn't here.
void kernpack_emulator_missing(const char* function);
// The program calls NVIDIA's names: a call after main() gets an error, as NVIDIA's driver gives.
void kernpack_emulator_dropped_in(void);
// The mnemonic of each instruction of the tables, without its modifiers; NULL beyond the last.
const char* kernpack_emulator_row(unsigned index);
// Entries called by a forked child; at process exit the count of calls after main() is an exit code of 86.
long kernpack_emulator_calls_in_child(void);

// Capture: mode is CUstreamCaptureMode. End gives the status it was in (1 good, 2 broken) and keeps the graph, which launch
// runs as often as asked for.
int kernpack_emulator_begin_capture(void* stream, int mode);
int kernpack_emulator_end_capture(void* stream);
int kernpack_emulator_launch_graph(void* stream);

// A stream of the kind other frameworks make.
void* kernpack_emulator_blocking_stream(int device);
// The primary context, made current in this thread as by another framework; NULL for none.
void* kernpack_emulator_use_context(int device);
void* kernpack_emulator_other_context(int device);
void* kernpack_emulator_current_context(void);

#ifdef __cplusplus
}
#endif

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_CONTROL_H_
