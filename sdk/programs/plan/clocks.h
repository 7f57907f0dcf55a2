// The steps that are done when a step runs: for each stream, their number.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_CLOCKS_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_CLOCKS_H_

#include <kernpack/sdk/program/plan.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace kernpack::sdk::program {

// Streams, in their order, each with its count of steps; one that is not listed counts 0. Few streams lie behind most steps,
// of however many that a program has.
using Clock = std::vector<std::pair<uint32_t, uint32_t>>;

inline uint32_t At(const Clock& clock, uint32_t stream) {
  const auto found = std::lower_bound(clock.begin(), clock.end(), std::pair{stream, 0U});
  return found != clock.end() && found->first == stream ? found->second : 0;
}

inline void Raise(Clock* clock, const Clock& other) {
  Clock both;
  both.reserve(clock->size() + other.size());
  std::merge(clock->begin(), clock->end(), other.begin(), other.end(), std::back_inserter(both));
  // Of two counts of a stream the larger comes second, and stays.
  clock->clear();
  for (const auto& entry : both) {
    if (!clock->empty() && clock->back().first == entry.first) clock->pop_back();
    clock->push_back(entry);
  }
}

// Steps of one program in the order they are queued.
class Clocks {
 public:
  explicit Clocks(size_t steps) : after_(steps) {}

  // The steps that are known to be done when the stream's next step begins, before it waits for anything. Steps before the
  // last barrier are done too.
  Clock Before(uint32_t stream) const {
    return stream < last_.size() && last_[stream] != kNone ? after_[last_[stream]] : Clock();
  }
  // The steps that are done once a step is done, including this step. Steps before the last barrier are done too.
  const Clock& After(uint32_t step) const { return after_[step]; }
  // How many steps of a stream have happened where that clock is known.
  uint32_t Known(const Clock& clock, uint32_t stream) const {
    return std::max(At(clock, stream), stream < barrier_.size() ? barrier_[stream] : 0);
  }
  // How many steps a stream has.
  uint32_t Count(uint32_t stream) const { return stream < counts_.size() ? counts_[stream] : 0; }

  void Queue(uint32_t step, uint32_t stream, const std::vector<uint32_t>& waits) {
    Clock clock = Before(stream);
    for (const uint32_t w : waits) Raise(&clock, after_[w]);
    if (counts_.size() <= stream) {
      counts_.resize(stream + 1);
      last_.resize(stream + 1, kNone);
    }
    Raise(&clock, {{stream, ++counts_[stream]}});
    last_[stream] = step;
    after_[step] = std::move(clock);
  }
  // Everything before happens before everything after.
  void Barrier() {
    barrier_ = counts_;
    std::fill(last_.begin(), last_.end(), kNone);
  }

 private:
  static constexpr uint32_t kNone = ~0u;
  std::vector<Clock> after_;  // by step
  std::vector<uint32_t> counts_, barrier_;  // by stream: its steps, and those before the last barrier
  std::vector<uint32_t> last_;  // by stream: its latest step
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_CLOCKS_H_
