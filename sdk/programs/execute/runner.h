// Runs of a resolved program.
#ifndef KERNPACK_SDK_PROGRAMS_EXECUTE_RUNNER_H_
#define KERNPACK_SDK_PROGRAMS_EXECUTE_RUNNER_H_

#include <kernpack/sdk/program/execute.h>
#include <kernpack/signature/convert.h>

#include "execute/frame.h"
#include "execute/run_streams.h"

namespace kernpack::sdk::program {

class StepClock;

// Runs a program, one run after the other: a run that begins while another one is under way needs a Runner of its own.
class Runner {
 public:
  Runner(const ResolvedPlan* resolved, Meter* meter)
      : streams(resolved),
        frame(resolved->entry),
        resolved_(*resolved),
        meter_(meter),
        workspaces_(resolved->streams.size()) {}

  RunStreams streams;
  Frame frame;  // of the program that is run

  // Before each run. Both are used until its end.
  void Begin(const RunOptions* options, StepClock* clock /* nullable */) {
    options_ = options;
    clock_ = clock;
  }
  // Runs the program of the frame: results are in its slots, or in what frame->given has for them.
  void Run(Frame* frame, const KpAny* params, int32_t num_params);
  // Waits for copies to the host.
  void Land();
  // Result `index` of a frame that has run, the caller's: a new reference, or a copy of what it does not own.
  KpAny TakeResult(Frame* frame, size_t index);
  // Copies results that no step wrote there to where they were given.
  void FillGiven(Frame* frame);

 private:
  const ResolvedPlan& resolved_;
  Meter* meter_;
  std::vector<DeviceBlock> workspaces_;  // one per stream: its calls come one after the other
  std::vector<std::pair<uint32_t, DeviceEvent*>> landing_;  // copies to the host on their way: stream, event
  const RunOptions* options_ = nullptr;
  StepClock* clock_ = nullptr;

  bool LikeLast(const Frame& frame, const KpAny* params) const;
  void CheckParams(Frame* frame, const KpAny* params) const;
  // Of the entry's arguments. On each run: what they point to differs while all else is like the last time.
  void CheckShared(const KpAny* params) const;
  void RunStep(Frame* frame, size_t number);
  void Do(Frame* frame, size_t number);
  void Call(Frame* frame, size_t number);
  void CheckCall(Frame* frame, size_t number, signature::Converted* converted);
  void CallUntyped(Frame* frame, const ResolvedStep& step);
  void Copy(Frame* frame, size_t number);
  void MakeTuple(Frame* frame, size_t number);
  void RunProgram(Frame* frame, size_t number);
  // All that is queued comes before all that will be.
  void Barrier();
  // Gives the value, whose slot is described, memory: its buffer of the plan, what the caller gave, or a new tensor.
  void Place(Frame* frame, ValueId value);
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_EXECUTE_RUNNER_H_
