// Detects that other programs keep this program's threads from running, so that waiting for the threads costs more than they help.
//
// On a crowded machine a thread can lose its CPU for milliseconds in the middle of a chunk, and the caller waits for it. Where such waits
// add up to more than the threads save, jobs run on the caller's thread alone for a while; then threads are tried again.
#ifndef KERNPACK_SRC_DEVICES_PARALLEL_CPU_CONTENTION_H_
#define KERNPACK_SRC_DEVICES_PARALLEL_CPU_CONTENTION_H_

#include <chrono>
#include <cstdint>

namespace kernpack::host {

using ParallelClock = std::chrono::steady_clock;

// True if jobs should run on the caller's thread.
bool IsCrowded() noexcept;

// Says how a job on `width` threads went: how long the caller had chunks, and how long it then waited for the others.
void NoteJob(int32_t width, ParallelClock::duration work, ParallelClock::duration wait) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_PARALLEL_CPU_CONTENTION_H_
