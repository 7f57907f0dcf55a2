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

StepClock::StepClock(const Prepared* prepared, Lanes* lanes)
    : prepared_(*prepared), lanes_(*lanes), bases_(prepared->devices.size()) {
  lanes_.Finish();
  for (uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    const RealDevice& device = lanes_.device(lane);
    Base& base = bases_[prepared_.lanes[lane].device];
    if (base.event || device.is_host() || !(device.api->flags() & KP_DEVICE_EVENTS)) continue;
    base.event = DeviceEvent(device.api, device.device, device.api->CreateEvent(device.device, /*timing=*/true));
    device.api->RecordEvent(device.device, base.event.get(), lanes_.stream(lane));
    device.api->EventSync(device.device, base.event.get());
    base.host = Now();
  }
}

DeviceEvent StepClock::Mark(uint32_t lane) {
  if (lane == kNoStream || !bases_[prepared_.lanes[lane].device].event) return {};
  const RealDevice& device = lanes_.device(lane);
  DeviceEvent event(device.api, device.device, device.api->CreateEvent(device.device, /*timing=*/true));
  device.api->RecordEvent(device.device, event.get(), lanes_.stream(lane));
  return event;
}

void StepClock::Begin(const Frame* frame, size_t number) {
  const PreparedStep& step = frame->program->steps[number];
  const uint32_t lane = step.planned->stream;
  Timed& timed = steps_.emplace_back();
  open_.push_back(&timed);
  timed.event.name = StepKindName(step.step->kind) + (step.step->callee.empty() ? "" : " " + step.step->callee);
  timed.event.program = frame->program->program->name;
  timed.event.step = static_cast<uint32_t>(number);
  timed.event.device = prepared_.devices[step.device].device;
  timed.event.stream = lane;
  timed.event.copies = lane != kNoStream && prepared_.plan.streams[lane].copies;
  timed.begin = Mark(lane);
  timed.event.begin = Now();
}

void StepClock::End(const Frame* frame, size_t number) {
  const PreparedStep& step = frame->program->steps[number];
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
      const uint32_t index = prepared_.lanes[timed.event.stream].device;
      const RealDevice& device = prepared_.devices[index];
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
