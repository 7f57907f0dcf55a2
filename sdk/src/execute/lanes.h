// The streams of one run.
#ifndef KERNPACK_SDK_SRC_EXECUTE_LANES_H_
#define KERNPACK_SDK_SRC_EXECUTE_LANES_H_

#include "execute/memory.h"
#include "execute/prepared.h"

namespace kernpack::sdk::program {

// One stream for each stream of the plan. The first of each device is what is current for the caller, so that a run is in
// the order of what the caller queues; the others are our own, and wait for it at the beginning as it waits for them at the
// end. On the host everything happens at once, in the order of the steps.
//
// One thread at a time. Between runs it keeps its own streams.
class Lanes {
 public:
  // Makes streams. Throws what the devices say.
  explicit Lanes(const Prepared* prepared);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  // A run begins and ends on this thread.
  void Enter();
  void Leave(bool wait);
  // After an error: waits for what is queued, and makes current what was so before Enter().
  void Abandon() noexcept;

  // Makes the lane's device active and its stream current for this thread.
  void Use(uint32_t lane);
  // Whatever comes next on `lane` comes after `event`, which is of a step on the lane `of`.
  void Await(uint32_t lane, uint32_t of, const DeviceEvent& event);
  // The event is where the lane is now; it is made at the first time.
  void Record(uint32_t lane, DeviceEvent* event);
  // All lanes wait for each other.
  void Join();
  // The host waits for all lanes.
  void Finish();

  const RealDevice& device(uint32_t lane) const { return prepared_->devices[prepared_->lanes[lane].device]; }
  StreamHandle stream(uint32_t lane) const { return streams_[lane]; }
  uint32_t size() const { return static_cast<uint32_t>(streams_.size()); }

 private:
  struct Active {  // a device of the plan, as this thread sees it
    StreamHandle callers = nullptr;
    StreamHandle current = nullptr;
    int32_t id_before = 0;  // the active one of its type
    DeviceEvent left;  // the end of the last run that nobody waited for
    bool running = false;  // since then
  };

  const Prepared* prepared_;
  std::vector<StreamHandle> streams_;  // one a lane
  std::vector<Active> active_;  // one a device
  uint32_t active_device_ = 0;  // that Use() made active; 0, the host, at first
  bool entered_ = false;

  void Fork(uint32_t device);
  void Merge(uint32_t device);
  void Restore();
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_SRC_EXECUTE_LANES_H_
