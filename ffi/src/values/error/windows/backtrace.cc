// Errors have no backtraces on Windows yet.
#include "values/error/backtrace.h"

namespace kernpack::host {

bool BacktraceWanted() noexcept { return false; }

int CaptureFrames(void**, const void*) noexcept { return 0; }

std::string RenderFrames(void* const*, int) { return {}; }

}  // namespace kernpack::host
