// Memory of a device: plain, managed, pinned on the host, and from the stream-ordered pool.
#ifndef KERNPACK_BACKENDS_CUDA_MEMORY_H_
#define KERNPACK_BACKENDS_CUDA_MEMORY_H_

#include <cstdint>

#include "backends/cuda/backend.h"

namespace kernpack::cuda {

// The minimum alignment of every driver allocation.
constexpr uint32_t kAlignment = 256;

// Each returns 0, or -1 with an error raised.
int Allocate(const Device& device, uint64_t bytes, MemoryKind kind, void** out);
int Free(const Device& device, void* handle);
// Where the device has no memory pools these are Allocate and Free of kGlobal, which wait.
int AllocateOn(const Device& device, uint64_t bytes, Stream stream, void** out);
int FreeOn(const Device& device, void* handle, Stream stream);
// Gives what the pool keeps back to the driver.
int Trim(const Device& device);
// Bytes that the pool holds (kPoolReservedCurrent) or has given out (kPoolUsedCurrent); 0 before its first use.
int PoolBytes(const Device& device, MemPoolAttribute attribute, uint64_t* out);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_MEMORY_H_
