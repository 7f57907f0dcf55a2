#include "execute/lanes.h"

#include <kernpack/error.h>

#include "device_api/devices.h"
#include "target/host.h"

namespace kernpack::sdk::program {

Lanes::Lanes(const Prepared* prepared)
    : prepared_(prepared), streams_(prepared->lanes.size(), nullptr), active_(prepared->devices.size()) {
  for (uint32_t lane = 0; lane < size(); ++lane) {
    if (!prepared->lanes[lane].callers) streams_[lane] = device(lane).api->CreateStream(device(lane).device);
  }
}

Lanes::~Lanes() {
  for (uint32_t lane = 0; lane < size(); ++lane) {
    if (prepared_->lanes[lane].callers || !streams_[lane]) continue;
    try {
      device(lane).api->FreeStream(device(lane).device, streams_[lane]);
    } catch (const Error&) {
      // The device is lost.
    }
  }
}

void Lanes::Enter() {
  active_device_ = 0;
  for (uint32_t i = 0; i < active_.size(); ++i) {
    const RealDevice& real = prepared_->devices[i];
    if (real.is_host()) continue;
    Active& active = active_[i];
    active.callers = active.current = HostDevices().stream_get(real.device);
    active.id_before = real.api->GetDevice();
  }
  entered_ = true;
  for (uint32_t lane = 0; lane < size(); ++lane) {
    if (prepared_->lanes[lane].callers) streams_[lane] = active_[prepared_->lanes[lane].device].callers;
  }
  for (uint32_t i = 0; i < active_.size(); ++i) {
    const RealDevice& real = prepared_->devices[i];
    if (real.is_host()) continue;
    // Memory is reused: this run comes after the last one, whatever stream that was on.
    if (active_[i].running) real.api->StreamWaitEvent(real.device, active_[i].callers, active_[i].left.get());
    active_[i].running = false;
    Fork(i);
  }
}

void Lanes::Leave(bool wait) {
  for (uint32_t i = 0; i < active_.size(); ++i) {
    const RealDevice& real = prepared_->devices[i];
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

void Lanes::Abandon() noexcept {
  if (!entered_) return;
  for (uint32_t lane = 0; lane < size(); ++lane) {
    try {
      if (!device(lane).is_host()) device(lane).api->StreamSync(device(lane).device, streams_[lane]);
    } catch (const Error&) {
      // What went wrong first is what the caller hears of.
    }
  }
  Restore();
}

void Lanes::Restore() {
  for (uint32_t i = 0; i < active_.size(); ++i) {
    const RealDevice& real = prepared_->devices[i];
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

void Lanes::Use(uint32_t lane) {
  const uint32_t index = prepared_->lanes[lane].device;
  const RealDevice& real = prepared_->devices[index];
  if (real.is_host()) return;
  if (active_device_ != index) {
    active_device_ = index;
    real.api->SetDevice(real.device);
  }
  Active& active = active_[index];
  if (active.current == streams_[lane]) return;
  Check(HostDevices().stream_set(real.device, streams_[lane], nullptr));
  active.current = streams_[lane];
}

void Lanes::Await(uint32_t lane, uint32_t of, const DeviceEvent& event) {
  if (!event) return;  // of the host, or of a step that has not run: nothing is queued
  const RealDevice& waiting = device(lane);
  const RealDevice& other = device(of);
  if (prepared_->lanes[lane].device != prepared_->lanes[of].device) {
    other.api->EventSync(other.device, event.get());  // events mean something to their own device only
  } else if (streams_[lane] != streams_[of]) {
    waiting.api->StreamWaitEvent(waiting.device, streams_[lane], event.get());
  }
}

void Lanes::Record(uint32_t lane, DeviceEvent* event) {
  const RealDevice& real = device(lane);
  if (!*event) *event = DeviceEvent(real.api, real.device, real.api->CreateEvent(real.device));
  real.api->RecordEvent(real.device, event->get(), streams_[lane]);
}

// The device's own streams wait for the caller's.
void Lanes::Fork(uint32_t index) {
  const RealDevice& real = prepared_->devices[index];
  for (uint32_t lane = 0; lane < size(); ++lane) {
    if (prepared_->lanes[lane].device == index && !prepared_->lanes[lane].callers)
      real.api->SyncStreamFromTo(real.device, active_[index].callers, streams_[lane]);
  }
}

// The caller's stream waits for the device's own.
void Lanes::Merge(uint32_t index) {
  const RealDevice& real = prepared_->devices[index];
  for (uint32_t lane = 0; lane < size(); ++lane) {
    if (prepared_->lanes[lane].device == index && !prepared_->lanes[lane].callers)
      real.api->SyncStreamFromTo(real.device, streams_[lane], active_[index].callers);
  }
}

void Lanes::Join() {
  for (uint32_t i = 0; i < active_.size(); ++i) {
    if (prepared_->devices[i].is_host()) continue;
    Merge(i);
    Fork(i);
  }
}

void Lanes::Finish() {
  for (uint32_t i = 0; i < active_.size(); ++i) {
    const RealDevice& real = prepared_->devices[i];
    if (real.is_host()) continue;
    Merge(i);
    real.api->StreamSync(real.device, active_[i].callers);
  }
}

}  // namespace kernpack::sdk::program
