// Copies between devices.
#include <kernpack/error.h>

#include "device_api/devices.h"
#include "execute/runner.h"
#include "execute/tensors.h"
#include "target/host.h"

namespace kernpack::sdk::program {
void Runner::Copy(Frame* frame, size_t number) {
  const ResolvedStep& step = frame->program->steps[number];
  const ValueId source = step.step->args[0];
  const ValueId target = step.step->results[0];
  const KpDLTensor* from = kp_any_tensor(&frame->slots[source].any);
  if (!from) {  // host values are wherever the host is
    return frame->slots[target].Borrow(frame->slots[source].any);
  }
  const RealDevice& here = resolved_.devices[frame->program->values[source].device];
  const RealDevice& there = resolved_.devices[frame->program->values[target].device];
  Slot& slot = frame->slots[target];
  slot.Describe(there.device, from->dtype, from->shape, from->ndim);
  Place(frame, target);
  const KpDLTensor* to = kp_any_tensor(&slot.any);
  const RealDevice& device = there.is_host() ? here : there;  // whose backend copies
  const uint32_t stream = step.planned->stream;
  const bool direct = (here.is_host() || there.is_host() || SameDevice(here.device, there.device)) &&
                      stream != kNoStream && SameDevice(streams.device(stream).device, device.device) &&
                      IsCompact(*from) && IsCompact(*to);
  if (!direct) {
    Check(HostDevices().copy(from, to));
    // The copy is on the current streams, of which the plan knows one at most.
    for (const RealDevice* each : {&here, &there}) {
      if (!each->is_host()) each->api->StreamSync(each->device, HostDevices().stream_get(each->device));
    }
    return;
  }
  const StreamHandle handle = streams.handle(stream);
  const KpMemory place{from->data, from->byte_offset, from->device};
  const KpMemory into{to->data, to->byte_offset, to->device};
  if (there.is_host() && !here.is_host()) {
    DeviceEvent& event = frame->events[number];
    event = DeviceEvent(device.api, device.device, device.api->CopyDataFromToAsync(place, into, slot.bytes, handle));
    landing_.emplace_back(stream, &event);
    return;
  }
  device.api->CopyDataFromTo(place.handle, place.offset, into.handle, into.offset, slot.bytes, place.device,
                             into.device, handle);
}

}  // namespace kernpack::sdk::program
