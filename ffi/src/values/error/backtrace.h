// Stack capture for errors: addresses when an error is made, text only when somebody reads it.
#ifndef KERNPACK_SRC_VALUES_ERROR_BACKTRACE_H_
#define KERNPACK_SRC_VALUES_ERROR_BACKTRACE_H_

#include <string>

#include <kernpack/abi.h>

namespace kernpack::host {

constexpr int kMaxFrames = 64;

// True if KERNPACK_BACKTRACE asks for backtraces (set, and neither empty nor "0"). Read once.
bool BacktraceWanted() noexcept;
// Captures up to kMaxFrames return addresses, most recent first; returns how many. They begin with `caller`, the return address of
// one of the calls that led here: what lies above it is the raising code's own. NULL: with what called NewError.
int CaptureFrames(void** frames, const void* caller) noexcept;
// One line per function: source file and line, else object file and offset. Inlined functions have their own.
std::string RenderFrames(void* const* frames, int count);

// The table that get_extension returns for KP_BACKTRACE_EXTENSION.
// NULL unless KERNPACK_BACKTRACE asks for backtraces.
const KpBacktrace* BacktraceExtension() noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_ERROR_BACKTRACE_H_
