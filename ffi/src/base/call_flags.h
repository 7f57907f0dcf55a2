// Flags: calls are checked (KERNPACK_CHECK=1, or between kp_checking_enter and its end), or profiled (KERNPACK_PROFILE, or while a
// profile runs). One word of the process for each, which every call reads; a call on a function pointer that was fetched before goes
// through kp_function_resolve again when one is set.
#ifndef KERNPACK_SRC_BASE_CALL_FLAGS_H_
#define KERNPACK_SRC_BASE_CALL_FLAGS_H_

#include <atomic>
#include <cstdint>

#include <kernpack/host/host.h>

namespace kernpack::host {

namespace check {

extern std::atomic<int32_t> g_checking;  // how many ask for checks, and KP_CHECKING_CALL for each checked call
extern std::atomic<int32_t> g_tracing;  // how many of them ask for a line per call

inline bool Checking() noexcept { return __builtin_expect(g_checking.load(std::memory_order_relaxed) != 0, 0); }
// Keeps what a checked call asks of the host checked to its end, though the mode may go off meanwhile: its workspaces are the
// call's own, and asked for again they have to be the same ones.
class CallInProgress {
 public:
  CallInProgress() noexcept { g_checking.fetch_add(KP_CHECKING_CALL, std::memory_order_relaxed); }
  CallInProgress(const CallInProgress&) = delete;
  CallInProgress& operator=(const CallInProgress&) = delete;
  ~CallInProgress() { g_checking.fetch_sub(KP_CHECKING_CALL, std::memory_order_relaxed); }
};

inline bool Tracing() noexcept { return g_tracing.load(std::memory_order_relaxed) != 0; }

}  // namespace check

namespace profile {

extern std::atomic<int32_t> g_profiling;  // how many profiles run

inline bool Profiling() noexcept { return __builtin_expect(g_profiling.load(std::memory_order_relaxed) != 0, 0); }

}  // namespace profile

// True if calls are checked or profiled: a function pointer that was fetched before must then be fetched again.
inline bool Watched() noexcept { return check::Checking() || profile::Profiling(); }

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_CALL_FLAGS_H_
