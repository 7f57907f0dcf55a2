#include "device/streams.h"

#include <pthread.h>

#include <vector>

#include <kernpack/host/device.h>

#include "base/guard.h"
#include "base/leaked.h"
#include "call/context.h"
#include "device/pool.h"
#include "storage/table.h"
#include "workspace/workspace.h"

namespace kernpack::host {
namespace {

struct Current {
  KpDLDevice device;
  void* stream;
};

// Freed when its thread ends, but not with the process: what still runs then may ask.
struct Streams {
  std::vector<Current> current;  // only devices whose stream is not the default
};

struct StreamsKey {
  pthread_key_t key{};
  StreamsKey() {
    pthread_key_create(&key, [](void* ended) { delete static_cast<Streams*>(ended); });
  }
};

constinit thread_local Streams* t_streams = nullptr;

Streams& ThreadStreams() {
  if (t_streams == nullptr) {
    t_streams = new Streams();
    pthread_setspecific(Leaked<StreamsKey>().key, t_streams);
  }
  return *t_streams;
}

void* SetThreadStream(KpDLDevice device, void* stream) {
  auto& current = ThreadStreams().current;
  for (auto place = current.begin(); place != current.end(); ++place) {
    if (!SameDevice(place->device, device)) continue;
    void* previous = place->stream;
    place->stream = stream;
    if (stream == nullptr) current.erase(place);
    return previous;
  }
  if (stream != nullptr) current.push_back({device, stream});
  return nullptr;
}

}  // namespace

void* ThreadStream(KpDLDevice device) noexcept {
  if (t_streams == nullptr) return nullptr;
  for (const Current& entry : t_streams->current) {
    if (SameDevice(entry.device, device)) return entry.stream;
  }
  return nullptr;
}

void ForgetStream(KpDLDevice device, void* stream) {
  const auto of_stream = [&](const KeyView& key) {
    return key.scope == KP_SCOPE_STREAM && key.stream == stream && SameDevice(key.device, device);
  };
  StorageTable::Get().EraseIf(of_stream);
  DropWorkspaces(of_stream);
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
