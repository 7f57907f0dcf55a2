#include <kernpack/error.h>
#include <kernpack/sdk/program/plan.h>

#include <unordered_map>

#include "plan/canonical.h"
#include "plan/clocks.h"
#include "plan/dependencies.h"

namespace kernpack::sdk::program {
namespace {

// The streams of one device, as numbers of the plan's.
struct DeviceStreams {
  std::vector<uint32_t> calls;
  std::vector<uint32_t> copies;  // at most one
};

class StreamTable {
 public:
  explicit StreamTable(std::vector<Stream>* streams) : streams_(streams) {}

  DeviceStreams& Of(const VirtualDevice& device) { return devices_[device]; }
  uint32_t Add(const VirtualDevice& device, bool copies) {
    streams_->push_back({device, copies});
    return static_cast<uint32_t>(streams_->size() - 1);
  }

 private:
  std::vector<Stream>* streams_;
  std::unordered_map<VirtualDevice, DeviceStreams> devices_;
};

class StreamAssigner {
 public:
  StreamAssigner(const Plan& plan, size_t number, const PlanContext& context, const Writes& writes, StreamTable* table)
      : program_(plan.module.programs[number]),
        context_(context),
        table_(table),
        clocks_(program_.steps.size()),
        stream_(program_.steps.size(), kNoStream),
        dependencies_(program_, number, writes) {}

  std::vector<PlannedStep> Run() {
    std::vector<PlannedStep> planned(program_.steps.size());
    for (uint32_t s = 0; s < planned.size(); ++s) {
      const Step& step = program_.steps[s];
      const std::vector<uint32_t> before = dependencies_.Next(s);
      if (step.kind == StepKind::kIf || step.kind == StepKind::kInvoke) {
        planned[s].barrier = true;
        clocks_.Barrier();
      } else if (step.kind == StepKind::kCall || step.kind == StepKind::kCopy) {
        const uint32_t stream = step.kind == StepKind::kCall ? ForCall(step, before) : ForCopy(step);
        planned[s].stream = stream_[s] = stream;
        planned[s].waits = Needed(stream, before);
        for (const uint32_t w : planned[s].waits) planned[w].signals = true;
        clocks_.Queue(s, stream, planned[s].waits);
      }
    }
    return planned;
  }

 private:
  const Program& program_;
  const PlanContext& context_;
  StreamTable* table_;
  Clocks clocks_;
  std::vector<uint32_t> stream_;  // by step
  Dependencies dependencies_;

  bool IsHost(const VirtualDevice& device) const {
    return device.device_type() == context_.config->host_virtual_device().device_type();
  }

  // Copies have a stream of their own, so that they run beside calls: of the device that is not the host.
  uint32_t ForCopy(const Step& step) {
    const VirtualDevice to = WithoutScope(program_.values[step.results[0]].device);
    const VirtualDevice from = WithoutScope(program_.values[step.args[0]].device);
    const VirtualDevice& device = IsHost(to) ? from : to;
    DeviceStreams& streams = table_->Of(device);
    if (streams.copies.empty()) streams.copies.push_back(table_->Add(device, true));
    return streams.copies[0];
  }

  uint32_t ForCall(const Step& step, const std::vector<uint32_t>& before) {
    const VirtualDevice device = CallDevice(program_, step, context_.functions->Find(step.callee), *context_.config);
    DeviceStreams& streams = table_->Of(device);
    // Behind a step it waits for anyway, which nothing else follows: no event is needed.
    for (auto s = before.rbegin(); s != before.rend(); ++s) {
      const bool own = std::find(streams.calls.begin(), streams.calls.end(), stream_[*s]) != streams.calls.end();
      if (own && At(clocks_.After(*s), stream_[*s]) == clocks_.Count(stream_[*s])) return stream_[*s];
    }
    // A stream that has nothing left to do by then.
    Clock done;
    for (const uint32_t s : before) Raise(&done, clocks_.After(s));
    for (const uint32_t stream : streams.calls) {
      if (clocks_.Known(done, stream) >= clocks_.Count(stream)) return stream;
    }
    const bool one = *device.device_type() == KP_DEVICE_CPU;
    const size_t most = one ? 1 : static_cast<size_t>(context_.options.streams_per_device);
    if (streams.calls.size() < most) {
      streams.calls.push_back(table_->Add(device, false));
      return streams.calls.back();
    }
    const auto fewer = [&](uint32_t a, uint32_t b) { return clocks_.Count(a) < clocks_.Count(b); };
    return *std::min_element(streams.calls.begin(), streams.calls.end(), fewer);
  }

  // Of what must be done before, what neither the stream's order, nor a barrier, nor another wait implies.
  std::vector<uint32_t> Needed(uint32_t stream, const std::vector<uint32_t>& before) const {
    const Clock known = clocks_.Before(stream);
    std::vector<uint32_t> open;
    for (const uint32_t s : before) {
      if (stream_[s] != kNoStream && clocks_.Known(known, stream_[s]) < Position(s)) open.push_back(s);
    }
    std::vector<uint32_t> needed;
    for (const uint32_t s : open) {
      const bool implied = std::any_of(open.begin(), open.end(), [&](uint32_t other) {
        return other != s && At(clocks_.After(other), stream_[s]) >= Position(s);
      });
      if (!implied) needed.push_back(s);
    }
    return needed;
  }

  uint32_t Position(uint32_t s) const { return At(clocks_.After(s), stream_[s]); }
};

}  // namespace

void AssignStreams(Plan* plan, const PlanContext& context) {
  if (context.options.streams_per_device < 1) {
    KP_THROW(ValueError) << "streams_per_device: expected at least 1, got " << context.options.streams_per_device;
  }
  const Writes writes(plan->module, *context.functions);
  plan->streams.clear();
  plan->programs.resize(plan->module.programs.size());
  StreamTable table(&plan->streams);
  for (size_t p = 0; p < plan->programs.size(); ++p) {
    plan->programs[p].steps = StreamAssigner(*plan, p, context, writes, &table).Run();
  }
}

}  // namespace kernpack::sdk::program
