#include "execute/step_clock.h"

#include <kernpack/error.h>

#include <chrono>

namespace kernpack::sdk::program {
namespace {

double Now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

}  // namespace

StepClock::StepClock(const ResolvedPlan* resolved, RunStreams* streams)
    : resolved_(*resolved), streams_(*streams), bases_(resolved->devices.size()) {
  streams_.Finish();
  for (uint32_t stream = 0; stream < streams_.size(); ++stream) {
    const RealDevice& device = streams_.device(stream);
    Base& base = bases_[resolved_.streams[stream].device];
    if (base.event || device.is_host() || !(device.api->flags() & KP_DEVICE_EVENTS)) continue;
    base.event = DeviceEvent(device.api, device.device, device.api->CreateEvent(device.device, /*timing=*/true));
    device.api->RecordEvent(device.device, base.event.get(), streams_.handle(stream));
    device.api->EventSync(device.device, base.event.get());
    base.host = Now();
  }
}

DeviceEvent StepClock::Mark(uint32_t stream) {
  if (stream == kNoStream || !bases_[resolved_.streams[stream].device].event) return {};
  const RealDevice& device = streams_.device(stream);
  DeviceEvent event(device.api, device.device, device.api->CreateEvent(device.device, /*timing=*/true));
  device.api->RecordEvent(device.device, event.get(), streams_.handle(stream));
  return event;
}

void StepClock::Begin(const Frame* frame, size_t number) {
  const ResolvedStep& step = frame->program->steps[number];
  const uint32_t stream = step.planned->stream;
  Timed& timed = steps_.emplace_back();
  open_.push_back(&timed);
  timed.event.name = StepKindName(step.step->kind) + (step.step->callee.empty() ? "" : " " + step.step->callee);
  timed.event.program = frame->program->program->name;
  timed.event.step = static_cast<uint32_t>(number);
  timed.event.device = resolved_.devices[step.device].device;
  timed.event.stream = stream;
  timed.event.copies = stream != kNoStream && resolved_.plan.streams[stream].copies;
  timed.begin = Mark(stream);
  timed.event.begin = Now();
}

void StepClock::End(const Frame* frame, size_t number) {
  const ResolvedStep& step = frame->program->steps[number];
  Timed& timed = *open_.back();
  open_.pop_back();
  timed.end = Mark(step.planned->stream);
  timed.event.end = Now();
  timed.event.bytes = 0;
  for (const ValueId value : step.step->results) {
    const KpDLTensor* tensor = kp_any_tensor(&frame->slots[value].any);
    if (tensor) timed.event.bytes += DeviceAPI::GetDataSize(*tensor);
  }
}

void StepClock::Finish(Trace* trace) {
  std::vector<TraceEvent> events;
  for (Timed& timed : steps_) {
    if (timed.begin) {
      const uint32_t index = resolved_.streams[timed.event.stream].device;
      const RealDevice& device = resolved_.devices[index];
      const Base& base = bases_[index];
      const auto at = [&](const DeviceEvent& event) {
        return base.host + 1000 * device.api->EventElapsed(device.device, base.event.get(), event.get());
      };
      timed.event.begin = at(timed.begin);
      timed.event.end = at(timed.end);
    }
    events.push_back(std::move(timed.event));
  }
  trace->Add(std::move(events));
}

}  // namespace kernpack::sdk::program
