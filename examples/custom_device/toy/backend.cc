// The table of the toy's services, and the one struct that registers them.
#include <chrono>
#include <cstring>
#include <string_view>

#include "generator.h"
#include "memory.h"
#include "program.h"
#include "stream.h"

namespace toy {
namespace {

constexpr int32_t kDevices = 2;
constexpr const char* kScopes[] = {"global", nullptr};
constexpr const char* kProperties[] = {"arch", nullptr};
constexpr const char* kTargetKinds[] = {"toy", nullptr};
constexpr const char* kArch = "toy1";

struct Device {
  Memory memory;
  std::mutex mutex;
  std::vector<std::weak_ptr<Stream>> streams;
  std::shared_ptr<Stream> first = Start();  // the default stream

  std::shared_ptr<Stream> Start() {
    auto stream = Stream::Start();
    const std::lock_guard lock(mutex);
    streams.push_back(stream);
    return stream;
  }
  void SyncAll() {
    std::vector<std::weak_ptr<Stream>> all;
    {
      const std::lock_guard lock(mutex);
      std::erase_if(streams, [](const auto& stream) { return stream.expired(); });
      all = streams;
    }
    for (const auto& one : all) {
      if (const auto stream = one.lock()) stream->Sync();
    }
  }
};

// Opened once and never closed: work may be queued when the process ends.
struct Toy {
  const KpHost* host;
  int32_t type;
  Device devices[kDevices];
};
Toy* g_toy = nullptr;

using StreamHandle = std::shared_ptr<Stream>;
using EventHandle = std::shared_ptr<Event>;

Device& At(KpDLDevice device) { return g_toy->devices[device.device_id]; }
Stream& On(KpDLDevice device, void* stream) {
  return stream != nullptr ? **static_cast<StreamHandle*>(stream) : *At(device).first;
}
std::string_view View(KpBytes text) { return text.size != 0 ? std::string_view(text.data, text.size) : ""; }

// Runs a service; what it throws becomes an error raised in the host.
template <class Body>
int Serve(Body body) noexcept {
  const auto raise = [](const char* kind, const char* text) {
    return g_toy->host->raise(g_toy->host, kp_bytes(kind), kp_bytes(text), KpBytes{});
  };
  try {
    body();
    return 0;
  } catch (const Error& error) {
    return raise(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    return raise("MemoryError", "toy: the host is out of memory");
  } catch (const std::exception& error) {
    return raise("RuntimeError", error.what());
  }
}

void Set(KpAny* out, int64_t value) {
  out->type_index = KP_TYPE_INT;
  out->v.v_int = value;
}
void Set(KpAny* out, const char* text) {
  out->type_index = KP_TYPE_RAW_STR;
  out->v.v_c_str = text;
}

int Count(const KpDeviceApi*, int32_t* count, KpAny*) {
  *count = kDevices;
  return 0;
}

int GetAttr(const KpDeviceApi*, KpDLDevice device, int32_t kind, KpAny* out) {
  if (kind == KP_ATTR_DEVICE_NAME) Set(out, "Toy Accelerator");
  if (kind == KP_ATTR_TOTAL_GLOBAL_MEMORY) Set(out, static_cast<int64_t>(Memory::kCapacity));
  if (kind == KP_ATTR_AVAILABLE_GLOBAL_MEMORY) Set(out, static_cast<int64_t>(At(device).memory.available()));
  return 0;
}

int GetProperty(const KpDeviceApi*, KpDLDevice, KpBytes name, KpAny* out) {
  if (View(name) == "arch") Set(out, kArch);
  return 0;
}

int Alloc(const KpDeviceApi* api, KpDLDevice device, uint64_t bytes, uint64_t alignment, KpBytes scope, void** handle) {
  return Serve([&] {
    if (scope.size != 0 && View(scope) != kScopes[0]) {
      throw Error("ValueError", "unknown memory scope '" + std::string(View(scope)) + "'; expected global");
    }
    if (alignment > api->max_alignment) throw Error("ValueError", "alignment: expected at most 64");
    *handle = At(device).memory.Alloc(bytes);
  });
}

int Free(const KpDeviceApi*, KpDLDevice device, void* handle) {
  return Serve([&] {
    At(device).SyncAll();
    At(device).memory.Free(handle);
  });
}

bool OnHost(const KpMemory& place) { return place.device.device_type == KP_DEVICE_CPU; }
char* HostAddress(const KpMemory& place) { return static_cast<char*>(place.handle) + place.offset; }

int Copy(const KpDeviceApi*, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream) {
  return Serve([&] {
    if (OnHost(*from)) {
      // The host's memory may change as soon as this returns, so its bytes travel with the work.
      std::vector<char> staged(HostAddress(*from), HostAddress(*from) + bytes);
      char* target = At(to->device).memory.At(*to, bytes);
      On(to->device, stream).Queue([staged = std::move(staged), target] {
        std::memcpy(target, staged.data(), staged.size());
      });
      return;
    }
    const char* source = At(from->device).memory.At(*from, bytes);
    char* target = OnHost(*to) ? HostAddress(*to) : At(to->device).memory.At(*to, bytes);
    Stream& queue = On(from->device, stream);
    queue.Queue([=] { std::memcpy(target, source, bytes); });
    if (OnHost(*to)) queue.Sync();
  });
}

int Fill(const KpDeviceApi*, const KpMemory* to, uint64_t bytes, int32_t value, void* stream) {
  return Serve([&] {
    char* target = At(to->device).memory.At(*to, bytes);
    On(to->device, stream).Queue([=] { std::memset(target, value, bytes); });
  });
}

int StreamNew(const KpDeviceApi*, KpDLDevice device, int32_t, void** stream) {
  return Serve([&] { *stream = new StreamHandle(At(device).Start()); });
}
int StreamFree(const KpDeviceApi*, KpDLDevice, void* stream) {
  auto* handle = static_cast<StreamHandle*>(stream);
  (*handle)->Close();
  delete handle;
  return 0;
}
int StreamSync(const KpDeviceApi*, KpDLDevice device, void* stream) {
  On(device, stream).Sync();
  return 0;
}
int StreamQuery(const KpDeviceApi*, KpDLDevice device, void* stream, int32_t* done) {
  *done = On(device, stream).empty();
  return 0;
}
int StreamWaitStream(const KpDeviceApi*, KpDLDevice device, void* waiting, void* other) {
  return Serve([&] {
    const auto event = std::make_shared<Event>();
    event->Record(&On(device, other));
    event->MakeWait(&On(device, waiting));
  });
}

Event& AsEvent(void* event) { return **static_cast<EventHandle*>(event); }

int EventNew(const KpDeviceApi*, KpDLDevice, int32_t, void** event) {
  return Serve([&] { *event = new EventHandle(std::make_shared<Event>()); });
}
int EventRecord(const KpDeviceApi*, KpDLDevice device, void* event, void* stream) {
  return Serve([&] { AsEvent(event).Record(&On(device, stream)); });
}
int EventWait(const KpDeviceApi*, KpDLDevice device, void* event, void* stream) {
  return Serve([&] { AsEvent(event).MakeWait(&On(device, stream)); });
}
int EventSync(const KpDeviceApi*, KpDLDevice, void* event) {
  AsEvent(event).Sync();
  return 0;
}
int EventQuery(const KpDeviceApi*, KpDLDevice, void* event, int32_t* done) {
  *done = AsEvent(event).reached();
  return 0;
}
int EventElapsed(const KpDeviceApi*, KpDLDevice, void* begin, void* end, double* milliseconds) {
  *milliseconds = std::chrono::duration<double, std::milli>(AsEvent(end).time() - AsEvent(begin).time()).count();
  return 0;
}
int EventFree(const KpDeviceApi*, KpDLDevice, void* event) {
  delete static_cast<EventHandle*>(event);
  return 0;
}

int LoadCode(const KpDeviceApi*, KpDLDevice, KpBytes image, KpBytes format, KpBytes, void** code) {
  return Serve([&] {
    if (View(format) != "toy") throw Error("ValueError", "format '" + std::string(View(format)) + "'; expected toy");
    *code = new Program(Compile(View(image)));
  });
}
int UnloadCode(const KpDeviceApi*, KpDLDevice device, void* code) {
  return Serve([&] {
    At(device).SyncAll();
    delete static_cast<Program*>(code);
  });
}
int GetKernel(const KpDeviceApi*, KpDLDevice, void* code, KpBytes name, void** kernel) {
  return Serve([&] {
    std::string names;
    for (Kernel& one : static_cast<Program*>(code)->kernels) {
      if (one.name == View(name)) *kernel = &one;
      names += " " + one.name;
    }
    if (*kernel == nullptr)
      throw Error("AttributeError", "no kernel '" + std::string(View(name)) + "'; it has" + names);
  });
}
int Launch(const KpDeviceApi*, KpDLDevice device, void* kernel, const KpLaunch* launch, void* stream) {
  return Serve([&] {
    uint64_t threads = 1;
    for (int i = 0; i < 3; ++i) threads *= uint64_t{launch->grid[i]} * (launch->block[i] != 0 ? launch->block[i] : 1);
    const auto* code = static_cast<const Kernel*>(kernel);
    auto arguments = Bind(*code, *launch, threads, device, At(device).memory);
    On(device, stream).Queue([=, arguments = std::move(arguments)] { Execute(*code, arguments, threads); });
  });
}

KpDeviceApi MakeApi() {
  KpDeviceApi api{};
  api.struct_size = sizeof api;
  api.abi_version = KP_DEVICE_ABI_VERSION;
  api.flags = KP_DEVICE_STREAMS | KP_DEVICE_EVENTS | KP_DEVICE_CODE;
  api.max_alignment = 64;
  api.scopes = kScopes;
  api.properties = kProperties;
  api.count = Count;
  api.get_attr = GetAttr;
  api.get_property = GetProperty;
  api.alloc = Alloc;
  api.free = Free;
  api.copy = Copy;
  api.fill = Fill;
  api.stream_new = StreamNew;
  api.stream_free = StreamFree;
  api.stream_sync = StreamSync;
  api.stream_query = StreamQuery;
  api.stream_wait_stream = StreamWaitStream;
  api.event_new = EventNew;
  api.event_record = EventRecord;
  api.event_wait = EventWait;
  api.event_sync = EventSync;
  api.event_query = EventQuery;
  api.event_elapsed = EventElapsed;
  api.event_free = EventFree;
  api.load_code = LoadCode;
  api.unload_code = UnloadCode;
  api.get_kernel = GetKernel;
  api.launch = Launch;
  return api;
}

// A real backend opens its driver here, and says in *reason what is missing when it cannot.
int Open(const KpHost* host, int32_t device_type, const KpDeviceApi** out, KpAny*) {
  static const KpDeviceApi api = MakeApi();
  g_toy = new Toy{host, device_type, {}};
  *out = &api;
  return 0;
}

constexpr KpBackend kBackend = {
    sizeof(KpBackend), KP_DEVICE_ABI_VERSION, "toy", 0, 0, kTargetKinds, Open, Build, nullptr, nullptr, {}};

}  // namespace

void Run(const KpHost* host, KpDLDevice device, const Kernel& kernel, const KpLaunch& launch) {
  void* stream = nullptr;
  if (host->current_stream(host, device, &stream) != 0) throw Error("RuntimeError", "there is no stream to run on");
  const uint64_t threads = launch.grid[0];
  auto arguments = Bind(kernel, launch, threads, device, At(device).memory);
  On(device, stream).Queue([&kernel, arguments = std::move(arguments), threads] {
    Execute(kernel, arguments, threads);
  });
}

}  // namespace toy

extern "C" KP_EXPORT_SYMBOL const KpBackend* kp_backend_v1(int32_t index) {
  return index == 0 ? &toy::kBackend : nullptr;
}
