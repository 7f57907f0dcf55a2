// The streams of one run.
#ifndef KERNPACK_SDK_PROGRAMS_EXECUTE_RUN_STREAMS_H_
#define KERNPACK_SDK_PROGRAMS_EXECUTE_RUN_STREAMS_H_

#include "execute/memory.h"
#include "execute/resolved_plan.h"

namespace kernpack::sdk::program {

// One stream for each stream of the plan. The first of each device is what is current for the caller, so that a run is in
// the order of what the caller queues; the others are our own, and wait for it at the beginning as it waits for them at the
// end. On the host everything happens at once, in the order of the steps.
//
// One thread at a time. Between runs it keeps its own streams.
class RunStreams {
 public:
  // Makes streams. Throws what the devices say.
  explicit RunStreams(const ResolvedPlan* resolved);
  ~RunStreams();
  RunStreams(const RunStreams&) = delete;
  RunStreams& operator=(const RunStreams&) = delete;

  // A run begins and ends on this thread.
  void Enter();
  void Leave(bool wait);
  // After an error: waits for what is queued, and makes current what was so before Enter().
  void Abandon() noexcept;

  // Makes the stream current for this thread, and its device active.
  void Use(uint32_t stream);
  // Whatever comes next on `stream` comes after `event`, which is of a step on the stream `of`.
  void Await(uint32_t stream, uint32_t of, const DeviceEvent& event);
  // The event is where the stream is now; it is made at the first time.
  void Record(uint32_t stream, DeviceEvent* event);
  // All streams wait for each other.
  void Join();
  // The host waits for all streams.
  void Finish();

  const RealDevice& device(uint32_t stream) const { return resolved_->devices[resolved_->streams[stream].device]; }
  StreamHandle handle(uint32_t stream) const { return streams_[stream]; }
  uint32_t size() const { return static_cast<uint32_t>(streams_.size()); }

 private:
  struct Active {  // a device of the plan, as this thread sees it
    StreamHandle callers = nullptr;
    StreamHandle current = nullptr;
    int32_t id_before = 0;  // the active one of its type
    DeviceEvent left;  // the end of the last run that nobody waited for
    bool running = false;  // since then
  };

  const ResolvedPlan* resolved_;
  std::vector<StreamHandle> streams_;  // one per stream of the plan
  std::vector<Active> active_;  // one per device
  uint32_t active_device_ = 0;  // that Use() made active; 0, the host, at first
  bool entered_ = false;

  void Fork(uint32_t device);
  void Merge(uint32_t device);
  void Restore();
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_EXECUTE_RUN_STREAMS_H_
