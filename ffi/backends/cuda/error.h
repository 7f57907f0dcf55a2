// Errors of the backend: raised through the host that opened it, with the driver's words and what to do.
#ifndef KERNPACK_BACKENDS_CUDA_ERROR_H_
#define KERNPACK_BACKENDS_CUDA_ERROR_H_

#include <string>
#include <string_view>

#include <kernpack/abi.h>

#include "backends/cuda/driver.h"

namespace kernpack::cuda {

struct Device;

// Always -1.
int Raise(const KpHost* host, const char* kind, std::string_view message);

// An error after which nothing in the context works any more, in this process.
bool IsSticky(Result result);
// The context, and all memory and handles in it, went with a sticky error, a reset or the driver's own end.
bool IsGone(Result result);

// Raises for a call that failed: "<device>: <call> failed with <name and text>, while <doing>; <what to do>". Always -1.
int Fail(const Device& device, Result result, const char* call, std::string_view doing);

// As Fail, but for returning something: 0 when what was to be returned is gone already.
int FailToFree(const Device& device, Result result, const char* call, std::string_view doing);

}  // namespace kernpack::cuda

// Calls the driver; on failure raises and returns -1 from the function. `doing` completes "while ...".
#define KP_CUDA_TRY(device, call, arguments, doing)                            \
  do {                                                                         \
    const ::kernpack::cuda::Result result_ = (device).driver().call arguments; \
    if (result_ != ::kernpack::cuda::kSuccess) [[unlikely]]                    \
      return ::kernpack::cuda::Fail(device, result_, #call, doing);            \
  } while (false)

#endif  // KERNPACK_BACKENDS_CUDA_ERROR_H_
