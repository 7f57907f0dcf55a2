// Stack capture for errors: addresses when an error is made, text only when somebody reads it.
#ifndef KERNPACK_SRC_ERROR_BACKTRACE_H_
#define KERNPACK_SRC_ERROR_BACKTRACE_H_

#include <string>

namespace kernpack::host {

constexpr int kMaxFrames = 64;

// Whether KERNPACK_BACKTRACE asks for backtraces (set, and neither empty nor "0"). Read once.
bool BacktraceWanted() noexcept;
// Captures up to kMaxFrames return addresses, most recent first, without those of the raising code; returns how many.
int CaptureFrames(void** frames) noexcept;
// One line a frame: object file, symbol where known, offset.
std::string RenderFrames(void* const* frames, int count);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_ERROR_BACKTRACE_H_
