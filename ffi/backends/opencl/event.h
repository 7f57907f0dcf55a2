// Events: points in a stream that the host and other streams can wait for.
#ifndef KERNPACK_BACKENDS_OPENCL_EVENT_H_
#define KERNPACK_BACKENDS_OPENCL_EVENT_H_

#include <mutex>

#include "event_ref.h"

namespace kernpack::opencl {

class Event {
 public:
  static constexpr const char* kWhat = "event";

  Event(const Device* of, bool timing) : device(of), timing_(timing) {}
  // Of a command that is queued.
  explicit Event(const Device* of, EventRef mark) : device(of), timing_(false), mark_(std::move(mark)) {}

  void Record(EventRef mark) {
    const std::lock_guard lock(mutex_);
    mark_ = std::move(mark);
  }
  // Where it was recorded last; empty when it never was.
  EventRef mark() const {
    const std::lock_guard lock(mutex_);
    return mark_;
  }
  bool timing() const { return timing_; }

  const Device* const device;

 private:
  const bool timing_;
  mutable std::mutex mutex_;
  EventRef mark_;
};

// Milliseconds from one to the other. ValueError where one has no timing, was not recorded or is not reached.
double Elapsed(const char* function, const Event& begin, const Event& end);

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_EVENT_H_
