// One reference to a cl_event.
#ifndef KERNPACK_BACKENDS_OPENCL_EVENT_REF_H_
#define KERNPACK_BACKENDS_OPENCL_EVENT_REF_H_

#include <utility>

#include "backend.h"
#include "error.h"

namespace kernpack::opencl {

class EventRef {
 public:
  EventRef() = default;
  EventRef(const Device* device, cl_event owned) : device_(device), event_(owned) {}
  EventRef(const EventRef& other) : device_(other.device_), event_(other.event_) {
    if (event_ != nullptr) device_->cl->clRetainEvent(event_);
  }
  EventRef(EventRef&& other) noexcept : device_(other.device_), event_(std::exchange(other.event_, nullptr)) {}
  EventRef& operator=(EventRef other) noexcept {
    std::swap(device_, other.device_);
    std::swap(event_, other.event_);
    return *this;
  }
  ~EventRef() {
    if (event_ != nullptr) device_->cl->clReleaseEvent(event_);
  }

  cl_event get() const { return event_; }
  explicit operator bool() const { return event_ != nullptr; }

  // True if the event's command is done. RuntimeError if it failed.
  bool Done(const char* function) const {
    cl_int status = CL_COMPLETE;
    Check(device_->cl->clGetEventInfo(event_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr),
          "clGetEventInfo", function, device_->index);
    if (status < 0) Check(status, "a command on the stream", function, device_->index);
    return status == CL_COMPLETE;
  }
  void Wait(const char* function) const {
    Check(device_->cl->clWaitForEvents(1, &event_), "clWaitForEvents", function, device_->index);
  }

 private:
  const Device* device_ = nullptr;
  cl_event event_ = nullptr;
};

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_EVENT_REF_H_
