#include "devices/call/context.h"

#include <vector>

#include "base/leaked.h"
#include "base/os/thread.h"

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

struct StreamsOfThread : os::ThreadValue {
  StreamsOfThread() : ThreadValue([](void* ended) { delete static_cast<Streams*>(ended); }) {}
};

constinit thread_local Streams* t_streams = nullptr;

Streams& ThreadStreams() {
  if (t_streams == nullptr) {
    t_streams = new Streams();
    Leaked<StreamsOfThread>().Set(t_streams);
  }
  return *t_streams;
}

}  // namespace

void* ThreadStream(KpDLDevice device) noexcept {
  if (t_streams == nullptr) return nullptr;
  for (const Current& entry : t_streams->current) {
    if (SameDevice(entry.device, device)) return entry.stream;
  }
  return nullptr;
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

}  // namespace kernpack::host
