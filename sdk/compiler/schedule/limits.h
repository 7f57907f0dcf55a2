// Bounds on what schedules may ask for.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_LIMITS_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_LIMITS_H_

#include <cstdint>

namespace kernpack::sdk::ir {

inline constexpr int64_t kMaxUnrolled = 64;  // iterations

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_LIMITS_H_
