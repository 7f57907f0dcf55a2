#include "event.h"

namespace kernpack::opencl {
namespace {

cl_ulong ReachedAt(const char* function, const Event& event, const char* which) {
  if (!event.timing()) KP_THROW(ValueError) << function << ": the " << which << " event was made without timing";
  const EventRef mark = event.mark();
  if (!mark) KP_THROW(ValueError) << function << ": the " << which << " event was never recorded";
  if (!mark.Done(function)) {
    KP_THROW(ValueError) << function << ": the " << which << " event is not reached yet; wait for it with event_sync";
  }
  cl_ulong nanoseconds = 0;
  Check(event.device->cl->clGetEventProfilingInfo(mark.get(), CL_PROFILING_COMMAND_END, sizeof(nanoseconds),
                                                  &nanoseconds, nullptr),
        "clGetEventProfilingInfo", function, event.device->index);
  return nanoseconds;
}

}  // namespace

double Elapsed(const char* function, const Event& begin, const Event& end) {
  const cl_ulong from = ReachedAt(function, begin, "first");
  const cl_ulong to = ReachedAt(function, end, "second");
  return (static_cast<double>(to) - static_cast<double>(from)) * 1e-6;
}

}  // namespace kernpack::opencl
