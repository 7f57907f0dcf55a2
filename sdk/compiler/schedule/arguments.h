// Arguments of primitives, as text.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_ARGUMENTS_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_ARGUMENTS_H_

#include <cstdint>

#include "schedule/state.h"

namespace kernpack::sdk::ir {

// ValueError unless there are `least` to `most`; `wanted` says what they are.
void CheckCount(const std::string& primitive, const Args& args, size_t least, size_t most, const char* wanted);
// ValueError, beginning with `what`, for what isn't an integer.
int64_t ParseInteger(const std::string& what, const std::string& text);
// "peeled" or "masked" at place `at`; peeled when it is absent.
Tail ParseTail(const std::string& place, const Args& args, size_t at);
// "block.x" is 0 ... "thread.z" is 5.
int ParseLaunchIndex(const std::string& place, const std::string& text);
const char* LaunchIndexName(int index);
// "parallel", "vectorized", "bound to thread.x", ...
std::string MarkName(const Mark& mark);

// Bounds on what schedules may ask for.
inline constexpr int64_t kMaxUnrolled = 64;  // iterations

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_ARGUMENTS_H_
