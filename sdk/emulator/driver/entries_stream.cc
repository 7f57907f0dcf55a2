// Streams, events and capture.
#include <algorithm>
#include <chrono>
#include <utility>

#include "driver/machine.h"

namespace kernpack::cuda {
namespace {

Result NeedEvent(Event event) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  return Machine::Get().events.count(event) != 0 ? kSuccess : kInvalidHandle;
}

bool Reached(Event event) {
  return event->recorded.stream == nullptr || event->recorded.stream->done >= event->recorded.sequence;
}

// Work runs when the program waits for it: a program that asks a second time waits.
Result Ask(const Point& point, uint64_t* asked) {
  if (std::exchange(*asked, point.sequence) != point.sequence) return kNotReady;
  return RunUntil(point.stream, point.sequence);
}

double Now() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Result cuStreamCreateWithPriority(Stream* stream, unsigned flags, int priority) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  auto made = std::make_shared<StreamOpaque>();
  made->context = context;
  made->blocking = (flags & kStreamNonBlocking) == 0;
  made->priority = std::clamp(priority, -5, 0);
  context->streams.push_back(made);
  *stream = made.get();
  return kSuccess;
}

// Work that is queued still completes.
Result cuStreamDestroy(Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  if (stream == stream->context->legacy) return kInvalidHandle;
  stream->destroyed = true;
  if (stream->done == stream->queued) std::erase(stream->context->streams, stream);
  return kSuccess;
}

Result cuStreamSynchronize(Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  if (const Result result = RefuseCaptured(stream); result != kSuccess) return result;
  if (stream != stream->context->legacy) return RunUntil(stream, stream->queued);
  for (const StreamRef& other : std::vector<StreamRef>(stream->context->streams)) {
    if (other->blocking) RunUntil(other, other->queued);
  }
  return RunUntil(stream, stream->queued);
}

Result cuStreamQuery(Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  if (const Result result = RefuseCaptured(stream); result != kSuccess) return result;
  if (stream->done != stream->queued) return Ask({stream, stream->queued}, &stream->asked);
  HostWaited(*stream, stream->done);
  return kSuccess;
}

Result cuStreamWaitEvent(Stream handle, Event event, unsigned flags) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  if (const Result result = NeedEvent(event); result != kSuccess) return result;
  if (flags != 0) return kInvalidValue;
  if (event->captured) {
    stream->capture = kCaptureActive;  // it joins the capture
    const StreamRef& begun = event->capturing;
    if (begun != nullptr && begun != stream && begun->capture_id != 0) {
      stream->origin = begun, stream->capture_mode = begun->capture_mode, stream->capture_id = begun->capture_id;
    }
    return kSuccess;
  }
  std::vector<Point> after;
  if (event->recorded.stream != nullptr) after.push_back(event->recorded);
  return Enqueue(stream, [] { return kSuccess; }, std::move(after));
}

Result cuStreamIsCapturing(Stream handle, CaptureStatus* status) {
  if (handle == nullptr) {  // unlike other calls, a question does not break the capture
    Context context = nullptr;
    if (const Result result = NeedContext(&context); result != kSuccess) return result;
    for (const StreamRef& stream : context->streams) {
      if (stream->blocking && stream->capture != kCaptureNone) return kStreamCaptureImplicit;
    }
    *status = kCaptureNone;
    return kSuccess;
  }
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  *status = stream->capture;
  return kSuccess;
}

Result cuThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  std::swap(*mode, ThreadCaptureMode());
  return kSuccess;
}

Result cuEventCreate(Event* event, unsigned flags) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  const bool interprocess = (flags & kEventInterprocess) != 0;
  if (interprocess && (flags & kEventDisableTiming) == 0) return kInvalidValue;
  *event = new EventOpaque();
  (*event)->context = context;
  (*event)->timing = (flags & kEventDisableTiming) == 0;
  (*event)->interprocess = interprocess;
  Machine::Get().events.insert(*event);
  return kSuccess;
}

Result cuEventDestroy(Event event) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (Machine::Get().events.erase(event) == 0) return kInvalidHandle;
  delete event;
  return kSuccess;
}

Result cuEventRecord(Event event, Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  if (const Result result = NeedEvent(event); result != kSuccess) return result;
  if (stream->context != event->context) return kInvalidHandle;
  event->captured = stream->capture == kCaptureActive;
  if (event->captured) {
    event->capturing = stream->origin != nullptr ? stream->origin : stream;
    return kSuccess;
  }
  const Result result = Enqueue(stream, [event] {
    if (Machine::Get().events.count(event) != 0) event->milliseconds = Now();
    return kSuccess;
  });
  event->recorded = {stream, stream->queued};
  event->asked = 0;
  return result == kSuccess && event->interprocess ? RunUntil(stream, stream->queued) : result;
}

Result cuEventQuery(Event event) {
  if (const Result result = NeedEvent(event); result != kSuccess) return result;
  if (const Result result = UnsafeWhileCapturing(); result != kSuccess) return result;
  if (event->captured) return kCapturedEvent;
  if (!Reached(event)) return Ask(event->recorded, &event->asked);
  if (event->recorded.stream != nullptr) HostWaited(*event->recorded.stream, event->recorded.sequence);
  return kSuccess;
}

Result cuEventSynchronize(Event event) {
  if (const Result result = NeedEvent(event); result != kSuccess) return result;
  if (const Result result = UnsafeWhileCapturing(); result != kSuccess) return result;
  if (event->captured) return kCapturedEvent;
  return event->recorded.stream == nullptr ? kSuccess : RunUntil(event->recorded.stream, event->recorded.sequence);
}

Result cuEventElapsedTime(float* milliseconds, Event begin, Event end) {
  for (Event event : {begin, end}) {
    if (const Result result = NeedEvent(event); result != kSuccess) return result;
    if (!event->timing || event->recorded.stream == nullptr) return kInvalidHandle;
    if (!Reached(event)) return kNotReady;
  }
  *milliseconds = static_cast<float>(end->milliseconds - begin->milliseconds);
  return kSuccess;
}

}  // namespace kernpack::cuda
