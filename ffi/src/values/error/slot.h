// The error slot of each thread.
#ifndef KERNPACK_SRC_VALUES_ERROR_SLOT_H_
#define KERNPACK_SRC_VALUES_ERROR_SLOT_H_

#include <string_view>

#include <kernpack/abi.h>

namespace kernpack::host {

// Puts `error` (ownership passes; not NULL) into this thread's slot, and into libtvm_ffi's when that is loaded. Returns -1.
int RaiseObject(KpErrorObject* error) noexcept;
// Raises a new error, with the stack from `caller` on where it is wanted (see CaptureFrames). Returns -1.
int Raise(std::string_view kind, std::string_view message, std::string_view backtrace = {},
          const void* caller = nullptr) noexcept;
// Moves this thread's error out, whichever slot holds it; NONE and false when there is none.
bool TakeError(KpAny* out) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_ERROR_SLOT_H_
