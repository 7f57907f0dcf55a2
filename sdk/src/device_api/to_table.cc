// A DeviceAPI as a KpDeviceApi, registered as a backend.
#include <kernpack/guard.h>
#include <kernpack/sdk/device_backend.h>
#include <kernpack/string.h>

#include <deque>
#include <memory>
#include <mutex>

#include "codegen/packed.h"
#include "device_api/devices.h"
#include "target/host.h"

namespace kernpack::sdk {
namespace {

// What the host keeps for ever: the struct that registers, the table, and what the table points to.
struct Backend {
  KpBackend definition{};
  KpDeviceApi table{};
  DeviceAPI* api = nullptr;
  DeviceAPI* (*open)(int32_t device_type, std::string* why) = nullptr;
  std::vector<std::string> scopes;
  std::vector<const char*> scope_names;
};

struct Backends {
  std::mutex mutex;
  std::deque<Backend> all;
};

DeviceAPI& Of(const KpDeviceApi* table) { return *static_cast<DeviceAPI*>(table->context); }
std::string_view View(KpBytes text) { return text.size != 0 ? std::string_view(text.data, text.size) : ""; }

template <class Body>
int Serve(Body body) {
  return kernpack::detail::guarded(Host(), "DeviceAPI", body);
}

int Count(const KpDeviceApi* table, int32_t* count, KpAny* reason) {
  return Serve([&] {
    std::string why;
    *count = Of(table).DeviceCount(&why);
    if (*count == 0 && !why.empty()) *reason = Any(String(StringView(why.data(), why.size()))).release();
  });
}
int GetAttr(const KpDeviceApi* table, KpDLDevice device, int32_t kind, KpAny* out) {
  return Serve([&] { *out = Of(table).GetAttr(device, static_cast<DeviceAttrKind>(kind)).release(); });
}
int GetProperty(const KpDeviceApi* table, KpDLDevice device, KpBytes name, KpAny* out) {
  return Serve([&] { *out = Of(table).GetTargetProperty(device, View(name)).release(); });
}
int SetDevice(const KpDeviceApi* table, KpDLDevice device) {
  return Serve([&] { Of(table).SetDevice(device); });
}
int GetDevice(const KpDeviceApi* table, int32_t* id) {
  return Serve([&] { *id = Of(table).GetDevice(); });
}
int Alloc(const KpDeviceApi* table, KpDLDevice device, uint64_t bytes, uint64_t alignment, KpBytes scope,
          void** handle) {
  return Serve([&] { *handle = Of(table).AllocDataSpace(device, bytes, alignment, View(scope)); });
}
int Free(const KpDeviceApi* table, KpDLDevice device, void* handle) {
  return Serve([&] { Of(table).FreeDataSpace(device, handle); });
}
int Copy(const KpDeviceApi* table, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream) {
  return Serve([&] {
    Of(table).CopyDataFromTo(from->handle, from->offset, to->handle, to->offset, bytes, from->device, to->device,
                             stream);
  });
}
int CopyAsync(const KpDeviceApi* table, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream,
              void** event) {
  return Serve([&] { *event = Of(table).CopyDataFromToAsync(*from, *to, bytes, stream); });
}
int CopyStrided(const KpDeviceApi* table, const KpMemory* from, const KpMemory* to, const KpStridedCopy* box,
                void* stream, int32_t* done) {
  return Serve([&] { *done = Of(table).CopyStridedFromTo(*from, *to, *box, stream) ? 1 : 0; });
}
int CanCopy(const KpDeviceApi* table, KpDLDevice from, KpDLDevice to, int32_t* can) {
  return Serve([&] { *can = Of(table).CanCopy(from, to) ? 1 : 0; });
}
int Fill(const KpDeviceApi* table, const KpMemory* to, uint64_t bytes, int32_t value, void* stream) {
  return Serve([&] { Of(table).Fill(to->device, to->handle, to->offset, bytes, static_cast<uint8_t>(value), stream); });
}
int StreamNew(const KpDeviceApi* table, KpDLDevice device, int32_t, void** stream) {
  return Serve([&] { *stream = Of(table).CreateStream(device); });
}
int StreamFree(const KpDeviceApi* table, KpDLDevice device, void* stream) {
  return Serve([&] { Of(table).FreeStream(device, stream); });
}
int StreamSync(const KpDeviceApi* table, KpDLDevice device, void* stream) {
  return Serve([&] { Of(table).StreamSync(device, stream); });
}
int StreamQuery(const KpDeviceApi* table, KpDLDevice device, void* stream, int32_t* done) {
  return Serve([&] { *done = Of(table).StreamQuery(device, stream) ? 1 : 0; });
}
int StreamWaitStream(const KpDeviceApi* table, KpDLDevice device, void* waiting, void* other) {
  return Serve([&] { Of(table).SyncStreamFromTo(device, other, waiting); });
}
int EventNew(const KpDeviceApi* table, KpDLDevice device, int32_t timing, void** event) {
  return Serve([&] { *event = Of(table).CreateEvent(device, timing != 0); });
}
int EventRecord(const KpDeviceApi* table, KpDLDevice device, void* event, void* stream) {
  return Serve([&] { Of(table).RecordEvent(device, event, stream); });
}
int EventWait(const KpDeviceApi* table, KpDLDevice device, void* event, void* stream) {
  return Serve([&] { Of(table).StreamWaitEvent(device, stream, event); });
}
int EventSync(const KpDeviceApi* table, KpDLDevice device, void* event) {
  return Serve([&] { Of(table).EventSync(device, event); });
}
int EventQuery(const KpDeviceApi* table, KpDLDevice device, void* event, int32_t* done) {
  return Serve([&] { *done = Of(table).EventQuery(device, event) ? 1 : 0; });
}
int EventElapsed(const KpDeviceApi* table, KpDLDevice device, void* begin, void* end, double* milliseconds) {
  return Serve([&] { *milliseconds = Of(table).EventElapsed(device, begin, end); });
}
int EventFree(const KpDeviceApi* table, KpDLDevice device, void* event) {
  return Serve([&] { Of(table).FreeEvent(device, event); });
}
int LoadCode(const KpDeviceApi* table, KpDLDevice device, KpBytes image, KpBytes format, KpBytes options, void** code) {
  return Serve([&] { *code = Of(table).LoadCode(device, View(image), View(format), View(options)); });
}
int UnloadCode(const KpDeviceApi* table, KpDLDevice device, void* code) {
  return Serve([&] { Of(table).UnloadCode(device, code); });
}
int GetKernel(const KpDeviceApi* table, KpDLDevice device, void* code, KpBytes name, void** kernel) {
  return Serve([&] { *kernel = Of(table).GetKernel(device, code, View(name)); });
}
int Launch(const KpDeviceApi* table, KpDLDevice device, void* kernel, const KpLaunch* launch, void* stream) {
  return Serve([&] { Of(table).Launch(device, kernel, *launch, stream); });
}

void MakeTable(Backend* backend) {
  DeviceAPI& api = *backend->api;
  backend->scopes = api.MemoryScopes();
  for (const std::string& scope : backend->scopes) backend->scope_names.push_back(scope.c_str());
  backend->scope_names.push_back(nullptr);
  KpDeviceApi& table = backend->table;
  table.struct_size = sizeof table;
  table.abi_version = KP_DEVICE_ABI_VERSION;
  // What the class has no method for, the host makes from what it has.
  table.flags = api.flags() & ~static_cast<uint32_t>(KP_DEVICE_ASYNC_ALLOC);
  table.max_alignment = api.MaxAlignment();
  table.scopes = backend->scope_names.data();
  table.context = &api;
  table.count = Count;
  table.get_attr = GetAttr;
  table.get_property = GetProperty;
  table.set_device = SetDevice;
  table.get_device = GetDevice;
  table.alloc = Alloc;
  table.free = Free;
  table.copy = Copy;
  table.can_copy = CanCopy;
  table.copy_strided = CopyStrided;
  table.copy_async = CopyAsync;
  table.fill = Fill;
  table.stream_new = StreamNew;
  table.stream_free = StreamFree;
  table.stream_sync = StreamSync;
  table.stream_query = StreamQuery;
  table.stream_wait_stream = StreamWaitStream;
  table.event_new = EventNew;
  table.event_record = EventRecord;
  table.event_wait = EventWait;
  table.event_sync = EventSync;
  table.event_query = EventQuery;
  table.event_elapsed = EventElapsed;
  table.event_free = EventFree;
  table.load_code = LoadCode;
  table.unload_code = UnloadCode;
  table.get_kernel = GetKernel;
  table.launch = Launch;
}

Backends& AllBackends() {
  static Backends& backends = *new Backends;  // for ever, as the host keeps what is registered
  return backends;
}

// The host tells the type; ours go by name.
Backend& Find(int32_t device_type) {
  const std::string name = DeviceTypeName(device_type);
  Backends& backends = AllBackends();
  const std::lock_guard lock(backends.mutex);
  for (Backend& backend : backends.all) {
    if (backend.definition.name == name) return backend;
  }
  KP_THROW(InternalError) << "no DeviceAPI of type " << name << " was registered here";
}

int Open(const KpHost*, int32_t device_type, const KpDeviceApi** out, KpAny* reason) {
  return Serve([&] {
    Backend& backend = Find(device_type);
    std::string why;
    backend.api = backend.open(device_type, &why);
    if (backend.api == nullptr) {
      *reason = Any(String(StringView(why.data(), why.size()))).release();
      return;
    }
    MakeTable(&backend);
    *out = &backend.table;
  });
}

}  // namespace

void RegisterDeviceAPI(const DeviceBackendSpec& spec) {
  if (spec.open == nullptr) KP_THROW(ValueError) << "RegisterDeviceAPI: open is NULL";
  const bool has_kind = spec.target_kinds != nullptr && spec.target_kinds[0] != nullptr;
  if ((spec.generator || spec.load) && !has_kind) {
    KP_THROW(ValueError) << "RegisterDeviceAPI: a generator or loader needs a target kind";
  }
  Backends& backends = AllBackends();
  Backend* backend = nullptr;
  {
    const std::lock_guard lock(backends.mutex);
    backend = &backends.all.emplace_back();
  }
  backend->open = spec.open;
  KpBackend& definition = backend->definition;
  definition.struct_size = sizeof definition;
  definition.abi_version = KP_DEVICE_ABI_VERSION;
  definition.name = spec.name != nullptr ? spec.name : "";
  definition.device_type = spec.device_type;
  definition.target_kinds = spec.target_kinds;
  definition.open = Open;
  Check(HostDevices().backend_register(&definition));
  if (spec.generator) RegisterGenerator(spec.target_kinds[0], *spec.generator);
  if (spec.load) {
    RegisterPacked(
        std::string("module.load.") + spec.target_kinds[0], 1,
        [read = spec.load](const KpAny* args) {
          return FromGenerated(read(std::string(AnyView(args[0]).cast<StringView>())));
        },
        /*replace=*/false);
  }
}

}  // namespace kernpack::sdk
