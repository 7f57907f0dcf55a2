#include "backends/cuda/stream.h"

#include "backends/cuda/capture.h"

namespace kernpack::cuda {
namespace {

constexpr const char* kAfterCapture = "do it after the capture has ended";

}  // namespace

int NewStream(const Device& device, int32_t priority, Stream* out) {
  const ActiveContext active(device);
  if (active.failed()) return -1;
  const RelaxedCapture relaxed(device.driver());
  KP_CUDA_TRY(device, cuStreamCreateWithPriority, (out, kStreamNonBlocking, priority), "making a stream");
  return 0;
}

int FreeStream(const Device& device, Stream stream) {
  if (stream == nullptr) return 0;  // the default stream stays
  const ActiveContext active(device);
  if (active.failed()) return -1;
  if (IsCaptured(device, stream)) return RefuseCapture(device, stream, "freeing it", kAfterCapture);
  const Result result = device.driver().cuStreamDestroy(stream);
  return result == kSuccess ? 0 : FailToFree(device, result, "cuStreamDestroy", "freeing a stream");
}

int SyncStream(const Device& device, Stream stream) {
  const ActiveContext active(device);
  if (active.failed() || RefuseCapture(device, stream, "waiting for it", kAfterCapture) != 0) return -1;
  KP_CUDA_TRY(device, cuStreamSynchronize, (stream), "waiting for a stream");
  return 0;
}

int QueryStream(const Device& device, Stream stream, int32_t* done) {
  const ActiveContext active(device);
  if (active.failed() || RefuseCapture(device, stream, "asking whether it is done", kAfterCapture) != 0) return -1;
  const Result result = device.driver().cuStreamQuery(stream);
  *done = result == kSuccess;
  return result == kSuccess || result == kNotReady
             ? 0
             : Fail(device, result, "cuStreamQuery", "asking a stream if it is done");
}

int WaitForStream(const Device& device, Stream waiting, Stream other) {
  if (waiting == other) return 0;
  const ActiveContext active(device);
  Event event = nullptr;
  if (active.failed() || NewEvent(device, false, &event) != 0) return -1;
  int code = RecordEvent(device, event, other);
  if (code == 0) code = WaitForEvent(device, event, waiting);
  static_cast<void>(device.driver().cuEventDestroy(event));  // the driver keeps what the streams still need
  return code;
}

int NewEvent(const Device& device, bool timing, Event* out) {
  const ActiveContext active(device);
  if (active.failed()) return -1;
  KP_CUDA_TRY(device, cuEventCreate, (out, timing ? 0 : kEventDisableTiming), "making an event");
  return 0;
}

int FreeEvent(const Device& device, Event event) {
  if (event == nullptr) return 0;
  const ActiveContext active(device);
  if (active.failed()) return -1;
  const Result result = device.driver().cuEventDestroy(event);
  return result == kSuccess ? 0 : FailToFree(device, result, "cuEventDestroy", "freeing an event");
}

int RecordEvent(const Device& device, Event event, Stream stream) {
  const ActiveContext active(device);
  if (active.failed()) return -1;
  KP_CUDA_TRY(device, cuEventRecord, (event, stream), "recording an event");
  return 0;
}

int WaitForEvent(const Device& device, Event event, Stream stream) {
  const ActiveContext active(device);
  if (active.failed()) return -1;
  KP_CUDA_TRY(device, cuStreamWaitEvent, (stream, event, 0), "making a stream wait for an event");
  return 0;
}

int SyncEvent(const Device& device, Event event) {
  const ActiveContext active(device);
  if (active.failed()) return -1;
  const RelaxedCapture relaxed(device.driver());
  KP_CUDA_TRY(device, cuEventSynchronize, (event), "waiting for an event");
  return 0;
}

int QueryEvent(const Device& device, Event event, int32_t* done) {
  const ActiveContext active(device);
  if (active.failed()) return -1;
  const RelaxedCapture relaxed(device.driver());
  const Result result = device.driver().cuEventQuery(event);
  *done = result == kSuccess;
  return result == kSuccess || result == kNotReady
             ? 0
             : Fail(device, result, "cuEventQuery", "asking an event if it is reached");
}

int ElapsedBetween(const Device& device, Event begin, Event end, double* milliseconds) {
  const ActiveContext active(device);
  if (active.failed()) return -1;
  float value = 0;
  KP_CUDA_TRY(device, cuEventElapsedTime, (&value, begin, end),
              "asking for the time between two events, which must have been made with timing, recorded and reached");
  *milliseconds = static_cast<double>(value);
  return 0;
}

}  // namespace kernpack::cuda
