// Whether calls are profiled: KERNPACK_PROFILE, or while a profile runs. One word for the process, read as check/mode.h's is.
#ifndef KERNPACK_SRC_PROFILE_MODE_H_
#define KERNPACK_SRC_PROFILE_MODE_H_

#include <atomic>
#include <cstdint>

#include "check/mode.h"

namespace kernpack::host {

namespace profile {

extern std::atomic<int32_t> g_profiling;  // how many profiles run

inline bool Profiling() noexcept { return __builtin_expect(g_profiling.load(std::memory_order_relaxed) != 0, 0); }

}  // namespace profile

// Whether a function pointer that was fetched before has to be asked for again, since somebody checks or profiles calls.
inline bool Watched() noexcept { return check::Checking() || profile::Profiling(); }

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_PROFILE_MODE_H_
