// When the steps of one run began and ended.
#ifndef KERNPACK_SDK_PROGRAMS_EXECUTE_STEP_CLOCK_H_
#define KERNPACK_SDK_PROGRAMS_EXECUTE_STEP_CLOCK_H_

#include <kernpack/sdk/program/trace.h>

#include <deque>

#include "execute/frame.h"
#include "execute/run_streams.h"

namespace kernpack::sdk::program {

// Steps on a device with events are timed by it, between two events on the step's stream, and all others on the host.
class StepClock {
 public:
  // The run has begun: streams->Enter().
  StepClock(const ResolvedPlan* resolved, RunStreams* streams);

  void Begin(const Frame* frame, size_t step);
  void End(const Frame* frame, size_t step);
  // All is done.
  void Finish(Trace* trace);

 private:
  struct Timed {
    TraceEvent event;
    DeviceEvent begin;  // none: timed on the host
    DeviceEvent end;
  };
  struct Base {
    DeviceEvent event;  // none: the device measures no time
    double host = 0;  // when it was, microseconds
  };

  const ResolvedPlan& resolved_;
  RunStreams& streams_;
  std::vector<Base> bases_;  // one per device
  std::deque<Timed> steps_;
  std::vector<Timed*> open_;  // those that have begun and not ended, outermost first

  DeviceEvent Mark(uint32_t stream);
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_EXECUTE_STEP_CLOCK_H_
