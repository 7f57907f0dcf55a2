// Copies between host memory and buffers, and within a device; fills.
#ifndef KERNPACK_BACKENDS_OPENCL_COPY_H_
#define KERNPACK_BACKENDS_OPENCL_COPY_H_

#include <kernpack/device_api.h>

#include "buffers.h"
#include "event_ref.h"

namespace kernpack::opencl {

// When host memory may be used again.
enum class HostMemory {
  kFreeOnReturn,  // the copy waits for the command that reads or writes it
  kBusyUntilEvent
};

// `from`, `to` or both are on an OpenCL device; the other is host memory. With kBusyUntilEvent the result is the copy's event,
// else it is empty. ValueError for ranges outside an allocation, RuntimeError.
EventRef Copy(const char* function, const KpMemory& from, const KpMemory& to, uint64_t bytes, void* stream,
              HostMemory host);

// False, with nothing done, where OpenCL's rectangles cannot say it or would take too many commands.
bool CopyStrided(const char* function, const KpMemory& from, const KpMemory& to, const KpStridedCopy& box,
                 void* stream);

void Fill(const char* function, const KpMemory& to, uint64_t bytes, int32_t value, void* stream);

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_COPY_H_
