// Whether calls are checked: KERNPACK_CHECK=1, or while somebody is inside kp_checking_enter. One word for the process, which
// every call reads; a call on a function pointer that was fetched before goes through kp_function_resolve again when it is set.
#ifndef KERNPACK_SRC_CHECK_MODE_H_
#define KERNPACK_SRC_CHECK_MODE_H_

#include <atomic>
#include <cstdint>

namespace kernpack::host::check {

extern std::atomic<int32_t> g_checking;  // how many ask for checks
extern std::atomic<int32_t> g_tracing;  // how many of them ask for a line per call

inline bool Checking() noexcept { return __builtin_expect(g_checking.load(std::memory_order_relaxed) != 0, 0); }
inline bool Tracing() noexcept { return g_tracing.load(std::memory_order_relaxed) != 0; }

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_CHECK_MODE_H_
