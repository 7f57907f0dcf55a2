// Streams and events. A NULL stream is CUDA's legacy default stream: it waits for, and is waited for by, all streams of the
// context that are not non-blocking. Streams made here are non-blocking.
#ifndef KERNPACK_BACKENDS_CUDA_STREAM_H_
#define KERNPACK_BACKENDS_CUDA_STREAM_H_

#include <cstdint>

#include "backends/cuda/backend.h"

namespace kernpack::cuda {

// Each returns 0, or -1 with an error raised.
int NewStream(const Device& device, int32_t priority, Stream* out);
int FreeStream(const Device& device, Stream stream);
int SyncStream(const Device& device, Stream stream);
int QueryStream(const Device& device, Stream stream, int32_t* done);
int WaitForStream(const Device& device, Stream waiting, Stream other);

int NewEvent(const Device& device, bool timing, Event* out);
int FreeEvent(const Device& device, Event event);
int RecordEvent(const Device& device, Event event, Stream stream);
int WaitForEvent(const Device& device, Event event, Stream stream);
int SyncEvent(const Device& device, Event event);
int QueryEvent(const Device& device, Event event, int32_t* done);
int ElapsedBetween(const Device& device, Event begin, Event end, double* milliseconds);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_STREAM_H_
