// What has happened before a step when it runs: of each stream, how many steps.
#ifndef KERNPACK_SDK_SRC_PLAN_CLOCKS_H_
#define KERNPACK_SDK_SRC_PLAN_CLOCKS_H_

#include <kernpack/sdk/program/plan.h>

#include <algorithm>

namespace kernpack::sdk::program {

// Counts of steps by stream; a stream that is not there yet counts 0.
using Clock = std::vector<uint32_t>;

inline uint32_t At(const Clock& clock, uint32_t stream) { return stream < clock.size() ? clock[stream] : 0; }

inline void Raise(Clock* clock, const Clock& other) {
  if (clock->size() < other.size()) clock->resize(other.size());
  for (size_t i = 0; i < other.size(); ++i) (*clock)[i] = std::max((*clock)[i], other[i]);
}

// Steps of one program in the order they are queued.
class Clocks {
 public:
  explicit Clocks(size_t steps) : after_(steps) {}

  // What is known to have happened where the stream's next step begins, before it waits for anything.
  Clock Before(uint32_t stream) const {
    Clock clock = barrier_;
    if (stream < last_.size() && last_[stream] != kNone) Raise(&clock, after_[last_[stream]]);
    return clock;
  }
  // What has happened once a step is done, itself included.
  const Clock& After(uint32_t step) const { return after_[step]; }
  // What had happened at the last barrier.
  const Clock& AtBarrier() const { return barrier_; }
  // How many steps a stream has.
  uint32_t Count(uint32_t stream) const { return At(counts_, stream); }

  void Queue(uint32_t step, uint32_t stream, const std::vector<uint32_t>& waits) {
    Clock clock = Before(stream);
    for (const uint32_t w : waits) Raise(&clock, after_[w]);
    if (counts_.size() <= stream) {
      counts_.resize(stream + 1);
      last_.resize(stream + 1, kNone);
    }
    if (clock.size() <= stream) clock.resize(stream + 1);
    clock[stream] = ++counts_[stream];
    last_[stream] = step;
    after_[step] = std::move(clock);
  }
  // Everything before happens before everything after.
  void Barrier(uint32_t step) {
    barrier_ = counts_;
    after_[step] = counts_;
  }

 private:
  static constexpr uint32_t kNone = ~0u;
  std::vector<Clock> after_;  // by step
  Clock counts_, barrier_;
  std::vector<uint32_t> last_;  // by stream: its latest step
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_SRC_PLAN_CLOCKS_H_
