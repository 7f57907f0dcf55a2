#include "stream.h"

#include "handles.h"

namespace kernpack::opencl {

Stream::Stream(const char* function, const Device* of) : device(of) {
  cl_int status = CL_SUCCESS;
  // Profiling is what event_elapsed() reads; a queue cannot change its mind later.
  queue_ = device->cl->clCreateCommandQueue(device->context, device->facts->id, CL_QUEUE_PROFILING_ENABLE, &status);
  Check(status, "clCreateCommandQueue", function, device->index);
}

Stream::~Stream() {
  device->cl->clReleaseCommandQueue(queue_);  // OpenCL completes what is queued
}

std::shared_ptr<Stream> Stream::Find(const char* function, const Device& device, const void* handle) {
  // Lives until the process ends: nothing to count.
  if (handle == nullptr) return {std::shared_ptr<void>(), device.default_stream.get()};
  return Handles<Stream>::Get().Find(function, device, handle);
}

void Stream::Reached(uint64_t position) {
  uint64_t before = reached_.load(std::memory_order_relaxed);
  while (before < position && !reached_.compare_exchange_weak(before, position, std::memory_order_release)) {
  }
}

void Stream::Sync(const char* function) {
  const uint64_t position = Position();
  Check(device->cl->clFinish(queue_), "clFinish", function, device->index);
  Reached(position);
}

bool Stream::Idle(const char* function) {
  const uint64_t position = Position();
  if (reached_.load(std::memory_order_acquire) >= position) return true;
  const std::lock_guard lock(polling_);
  if (!polled_ || polled_position_ < position) {
    polled_ = Mark(function);
    polled_position_ = position;
  }
  if (!polled_.Done(function)) return false;
  Reached(polled_position_);
  polled_ = EventRef();
  return true;
}

EventRef Stream::Mark(const char* function) {
  cl_event event = nullptr;
  Check(device->cl->clEnqueueMarkerWithWaitList(queue_, 0, nullptr, &event), "clEnqueueMarkerWithWaitList", function,
        device->index);
  EventRef mark(device, event);
  Check(device->cl->clFlush(queue_), "clFlush", function,
        device->index);  // another queue may wait only for what was sent
  return mark;
}

void Stream::Await(const char* function, cl_event event) {
  Check(device->cl->clEnqueueBarrierWithWaitList(queue_, 1, &event, nullptr), "clEnqueueBarrierWithWaitList", function,
        device->index);
  Queued();
}

}  // namespace kernpack::opencl
