#include "observe/check/device_image.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include <kernpack/host/device.h>

#include "shared/bytes.h"
#include "devices/call/context.h"
#include "base/call_flags.h"
#include "devices/memory.h"
#include "devices/registry.h"
#include "values/error/slot.h"
#include "base/log.h"
#include "values/object/object.h"
#include "values/tensor/dltensor.h"
#include "values/tensor/tensor_object.h"

namespace kernpack::host::check {
namespace {

// Where the lines on stderr are wanted they say it too: nobody shall take such a call for a checked one.
void SayNotLookedAt(const char* function, KpDLDevice device) {
  OwnedAny error;
  std::string line = std::string("kernpack: ") + function + ": memory isn't checked in this call, since " +
                     DeviceText(device) + " cannot be waited for";
  if (TakeError(error.out())) {
    line.append(": ").append(View(reinterpret_cast<const KpErrorObject*>(error.get().v.v_obj)->message));
  }
  if (!Tracing()) return Log(KP_LOG_WARNING, line);
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

int DeviceInUse::Fetch(void* handle, uint64_t offset, void* to, uint64_t bytes) const {
  const KpMemory source{handle, offset, device};
  const KpMemory target{to, 0, kHere};
  return api->copy(api, &source, &target, bytes, stream);
}

int DeviceInUse::Send(const void* from, void* handle, uint64_t offset, uint64_t bytes) const {
  const KpMemory source{const_cast<void*>(from), 0, kHere};
  const KpMemory target{handle, offset, device};
  return api->copy(api, &source, &target, bytes, stream);
}

const DeviceInUse& DevicesInUse::Use(KpDLDevice device, void* stream, const char* function) {
  const std::lock_guard lock(mutex_);
  for (const DeviceInUse& one : all_) {
    if (SameDevice(one.device, device) && one.stream == stream) return one;
  }
  const KpDeviceApi* api = DeviceApi(device.device_type);
  if (api != nullptr && api->stream_sync(api, device, stream) != 0) api = nullptr;
  if (api == nullptr) SayNotLookedAt(function, device);
  return all_.emplace_back(DeviceInUse{device, stream, api});
}

int DevicesInUse::Wait() {
  for (const DeviceInUse& one : all_) {
    if (one.api != nullptr && one.api->stream_sync(one.api, one.device, one.stream) != 0) return -1;
  }
  return 0;
}

DeviceImage::~DeviceImage() {
  if (handle_ == nullptr) return;
  const ErrorKeeper keeper;
  where_.api->free(where_.api, where_.device, handle_);
}

int DeviceImage::Make(const Block& block, bool from_data) {
  left_out_ = from_data ? block.front() : 0;
  offset_ = block.front() - left_out_;
  bytes_ = block.whole_bytes() - left_out_;
  const KpDeviceApi* api = where_.api;
  const auto alignment = std::min<uint64_t>(api->max_alignment, kTensorAlignment);
  const int rc = WithReserve(api, where_.device,
                             [&] { return api->alloc(api, where_.device, bytes_, alignment, KpBytes{}, &handle_); });
  return rc != 0 ? -1 : where_.Send(block.whole() + left_out_, handle_, 0, bytes_);
}

int DeviceImage::Fetch(const Block& block) const { return where_.Fetch(handle_, 0, block.whole() + left_out_, bytes_); }

bool DeviceImage::Holds(const void* address) const {
  if (!where_.HasAddresses()) return address == handle_;
  const auto* begin = static_cast<const char*>(handle_);
  return address >= begin && address < begin + bytes_;
}

}  // namespace kernpack::host::check
