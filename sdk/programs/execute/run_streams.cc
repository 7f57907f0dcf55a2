#include "execute/run_streams.h"

#include <kernpack/error.h>

#include "device_api/devices.h"
#include "target/host.h"

namespace kernpack::sdk::program {

RunStreams::RunStreams(const ResolvedPlan* resolved)
    : resolved_(resolved), streams_(resolved->streams.size(), nullptr), active_(resolved->devices.size()) {
  for (uint32_t stream = 0; stream < size(); ++stream) {
    if (!resolved->streams[stream].callers) streams_[stream] = device(stream).api->CreateStream(device(stream).device);
  }
}

RunStreams::~RunStreams() {
  for (uint32_t stream = 0; stream < size(); ++stream) {
    if (resolved_->streams[stream].callers || !streams_[stream]) continue;
    try {
      device(stream).api->FreeStream(device(stream).device, streams_[stream]);
    } catch (const Error&) {
      // The device is lost.
    }
  }
}

void RunStreams::Enter() {
  active_device_ = 0;
  for (uint32_t i = 0; i < active_.size(); ++i) {
    const RealDevice& real = resolved_->devices[i];
    if (real.is_host()) continue;
    Active& active = active_[i];
    active.callers = active.current = HostDevices().stream_get(real.device);
    active.id_before = real.api->GetDevice();
  }
  entered_ = true;
  for (uint32_t stream = 0; stream < size(); ++stream) {
    if (resolved_->streams[stream].callers) streams_[stream] = active_[resolved_->streams[stream].device].callers;
  }
  for (uint32_t i = 0; i < active_.size(); ++i) {
    const RealDevice& real = resolved_->devices[i];
    if (real.is_host()) continue;
    // Memory is reused: this run comes after the last one, whatever stream that was on.
    if (active_[i].running) real.api->StreamWaitEvent(real.device, active_[i].callers, active_[i].left.get());
    active_[i].running = false;
    Fork(i);
  }
}

void RunStreams::Leave(bool wait) {
  for (uint32_t i = 0; i < active_.size(); ++i) {
    const RealDevice& real = resolved_->devices[i];
    if (real.is_host()) continue;
    Merge(i);
    if (wait) {
      real.api->StreamSync(real.device, active_[i].callers);
      continue;
    }
    if (!active_[i].left) active_[i].left = DeviceEvent(real.api, real.device, real.api->CreateEvent(real.device));
    real.api->RecordEvent(real.device, active_[i].left.get(), active_[i].callers);
    active_[i].running = true;
  }
  Restore();
}

void RunStreams::Abandon() noexcept {
  if (!entered_) return;
  for (uint32_t stream = 0; stream < size(); ++stream) {
    try {
      if (!device(stream).is_host()) device(stream).api->StreamSync(device(stream).device, streams_[stream]);
    } catch (const Error&) {
      // The caller gets the first error.
    }
  }
  Restore();
}

void RunStreams::Restore() {
  for (uint32_t i = 0; i < active_.size(); ++i) {
    const RealDevice& real = resolved_->devices[i];
    if (real.is_host()) continue;
    Active& active = active_[i];
    if (active.current != active.callers) HostDevices().stream_set(real.device, active.callers, nullptr);
    active.current = active.callers;
    if (active_device_ == 0) continue;
    try {
      real.api->SetDevice({real.device.device_type, active.id_before});
    } catch (const Error&) {
      // It was active before; the driver that refuses it now says so again at the next call.
    }
  }
  entered_ = false;
}

void RunStreams::Use(uint32_t stream) {
  const uint32_t index = resolved_->streams[stream].device;
  const RealDevice& real = resolved_->devices[index];
  if (real.is_host()) return;
  if (active_device_ != index) {
    active_device_ = index;
    real.api->SetDevice(real.device);
  }
  Active& active = active_[index];
  if (active.current == streams_[stream]) return;
  Check(HostDevices().stream_set(real.device, streams_[stream], nullptr));
  active.current = streams_[stream];
}

void RunStreams::Await(uint32_t stream, uint32_t of, const DeviceEvent& event) {
  if (!event) return;  // of the host, or of a step that has not run: nothing is queued
  const RealDevice& waiting = device(stream);
  const RealDevice& other = device(of);
  if (resolved_->streams[stream].device != resolved_->streams[of].device) {
    other.api->EventSync(other.device, event.get());  // events mean something to their own device only
  } else if (streams_[stream] != streams_[of]) {
    waiting.api->StreamWaitEvent(waiting.device, streams_[stream], event.get());
  }
}

void RunStreams::Record(uint32_t stream, DeviceEvent* event) {
  const RealDevice& real = device(stream);
  if (!*event) *event = DeviceEvent(real.api, real.device, real.api->CreateEvent(real.device));
  real.api->RecordEvent(real.device, event->get(), streams_[stream]);
}

// The device's own streams wait for the caller's.
void RunStreams::Fork(uint32_t index) {
  const RealDevice& real = resolved_->devices[index];
  for (uint32_t stream = 0; stream < size(); ++stream) {
    if (resolved_->streams[stream].device == index && !resolved_->streams[stream].callers)
      real.api->SyncStreamFromTo(real.device, active_[index].callers, streams_[stream]);
  }
}

// The caller's stream waits for the device's own.
void RunStreams::Merge(uint32_t index) {
  const RealDevice& real = resolved_->devices[index];
  for (uint32_t stream = 0; stream < size(); ++stream) {
    if (resolved_->streams[stream].device == index && !resolved_->streams[stream].callers)
      real.api->SyncStreamFromTo(real.device, streams_[stream], active_[index].callers);
  }
}

void RunStreams::Join() {
  for (uint32_t i = 0; i < active_.size(); ++i) {
    if (resolved_->devices[i].is_host()) continue;
    Merge(i);
    Fork(i);
  }
}

void RunStreams::Finish() {
  for (uint32_t i = 0; i < active_.size(); ++i) {
    const RealDevice& real = resolved_->devices[i];
    if (real.is_host()) continue;
    Merge(i);
    real.api->StreamSync(real.device, active_[i].callers);
  }
}

}  // namespace kernpack::sdk::program
