// Error objects: kind, message and backtrace in one allocation.
#ifndef KERNPACK_SRC_VALUES_ERROR_ERROR_OBJECT_H_
#define KERNPACK_SRC_VALUES_ERROR_ERROR_OBJECT_H_

#include <string_view>

#include <kernpack/abi.h>

namespace kernpack::host {

// A new error with one reference; an immortal "out of memory" error when there is no memory for it. Never NULL.
// Where KERNPACK_BACKTRACE asks for it, with the stack from `caller` on (see CaptureFrames).
KpErrorObject* NewError(std::string_view kind, std::string_view message, std::string_view backtrace,
                        const void* caller = nullptr) noexcept;
// With a stack that was captured before.
KpErrorObject* NewErrorOfFrames(std::string_view kind, std::string_view message, std::string_view backtrace,
                                void* const* frames, int count) noexcept;

// Fills the backtrace text from the addresses captured when the error was made (KERNPACK_BACKTRACE=1); else does nothing.
void RenderBacktrace(KpObject* error) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_ERROR_ERROR_OBJECT_H_
