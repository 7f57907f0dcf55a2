#include "devices/streams.h"

#include <atomic>

#include <kernpack/host/device.h>

#include "base/guard.h"
#include "devices/call/context.h"
#include "devices/pool.h"
#include "devices/storage/table.h"

namespace kernpack::host {
namespace {

constinit std::atomic<StreamEnd*> g_stream_end = nullptr;

}  // namespace

void OnStreamEnd(StreamEnd* tell) { g_stream_end.store(tell, std::memory_order_release); }

void ForgetStream(KpDLDevice device, void* stream) {
  StorageTable::Get().EraseIf([&](const KeyView& key) { return IsOfStream(key, device, stream); });
  if (StreamEnd* tell = g_stream_end.load(std::memory_order_acquire)) tell(device, stream);
  TrimPools(device, &stream, /*forget=*/true);
  if (ThreadStream(device) == stream) SetThreadStream(device, nullptr);
}

}  // namespace kernpack::host

using namespace kernpack::host;

void* kp_stream_get(KpDLDevice device) { return CurrentStream(device); }

int kp_stream_set(KpDLDevice device, void* stream, void** previous) {
  return Guard("kp_stream_set", [&] {
    void* before = nullptr;
    if (void** place = CallStream(device)) {
      before = *place;
      *place = stream;
    } else {
      before = SetThreadStream(device, stream);
    }
    if (previous != nullptr) *previous = before;
    return 0;
  });
}
