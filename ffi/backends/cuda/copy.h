// Copies and fills. Host memory is free for reuse when a copy returns, pinned or not; only CopyAsync says otherwise.
#ifndef KERNPACK_BACKENDS_CUDA_COPY_H_
#define KERNPACK_BACKENDS_CUDA_COPY_H_

#include "backends/cuda/backend.h"

namespace kernpack::cuda {

// Each returns 0, or -1 with an error raised; `device` is the one that `stream` belongs to.
int Copy(const Device& device, const KpMemory& from, const KpMemory& to, uint64_t bytes, Stream stream);
// *done is 0, and nothing happened, where the box needs more than a few two-dimensional copies.
int CopyStrided(const Device& device, const KpMemory& from, const KpMemory& to, const KpStridedCopy& box, Stream stream,
                int32_t* done);
// Returns at once where host memory is pinned; with other memory the driver waits as it likes.
int CopyAsync(const Device& device, const KpMemory& from, const KpMemory& to, uint64_t bytes, Stream stream,
              Event* event);
int Fill(const Device& device, const KpMemory& to, uint64_t bytes, unsigned char value, Stream stream);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_COPY_H_
