// A DeviceAPI as a KpDeviceApi, registered as a backend.
#include <kernpack/guard.h>
#include <kernpack/sdk/device_backend.h>
#include <kernpack/string.h>

#include <deque>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "codegen/packed.h"
#include "device_api/devices.h"
#include "backends/service_table.h"
#include "target/host.h"

namespace kernpack::sdk {
namespace {

using device_table::FillServices;
using device_table::Passed;
using device_table::Service;
using device_table::View;

// Objects that the host keeps until the process ends: the struct that registers, the table, and the targets of its pointers.
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
int Alloc(const KpDeviceApi* table, KpDLDevice device, uint64_t bytes, uint64_t alignment, KpBytes scope,
          void** handle) {
  return Serve([&] { *handle = Of(table).AllocDataSpace(device, bytes, alignment, View(scope)); });
}
int Copy(const KpDeviceApi* table, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream) {
  return Serve([&] {
    Of(table).CopyDataFromTo(from->handle, from->offset, to->handle, to->offset, bytes, from->device, to->device,
                             stream);
  });
}
int Fill(const KpDeviceApi* table, const KpMemory* to, uint64_t bytes, int32_t value, void* stream) {
  return Serve([&] { Of(table).Fill(to->device, to->handle, to->offset, bytes, static_cast<uint8_t>(value), stream); });
}
int StreamNew(const KpDeviceApi* table, KpDLDevice device, int32_t, void** stream) {
  return Serve([&] { *stream = Of(table).CreateStream(device); });
}
int StreamWaitStream(const KpDeviceApi* table, KpDLDevice device, void* waiting, void* other) {
  return Serve([&] { Of(table).SyncStreamFromTo(device, other, waiting); });
}
int EventWait(const KpDeviceApi* table, KpDLDevice device, void* event, void* stream) {
  return Serve([&] { Of(table).StreamWaitEvent(device, stream, event); });
}

void Give(KpAny* out, Any value) { *out = value.release(); }
template <class Out, class Value>
void Give(Out* out, Value value) {
  *out = value;
}

// A method that takes what the service takes, in its order. What it returns goes to the service's last parameter.
template <auto Member, class Type = decltype(Member)>
struct Method;
template <auto Member, class Result, class... Args>
struct Method<Member, Result (DeviceAPI::*)(Args...)> {
  template <class... Given>
  static int Call(const KpDeviceApi* table, Given... given) {
    return Serve([&] {
      const std::tuple all(given...);
      const auto call = [&]<size_t... kPlace>(std::index_sequence<kPlace...>) -> Result {
        return (Of(table).*Member)(Passed<Args>(std::get<kPlace>(all))...);
      };
      if constexpr (std::is_void_v<Result>) {
        call(std::index_sequence_for<Args...>());
      } else {
        Give(std::get<sizeof...(Args)>(all), call(std::index_sequence_for<Args...>()));
      }
    });
  }
  template <class... Given>
  constexpr operator Service<Given...>() const {
    return Call<Given...>;
  }
};

// The host emulates services for which the class has no method.
struct Services {
  static constexpr auto count = Count;
  static constexpr Method<&DeviceAPI::GetAttr> get_attr{};
  static constexpr Method<&DeviceAPI::GetTargetProperty> get_property{};
  static constexpr Method<&DeviceAPI::SetDevice> set_device{};
  static constexpr Method<&DeviceAPI::GetDevice> get_device{};
  static constexpr auto alloc = Alloc;
  static constexpr Method<&DeviceAPI::FreeDataSpace> free{};
  static constexpr auto copy = Copy;
  static constexpr Method<&DeviceAPI::CanCopy> can_copy{};
  static constexpr Method<&DeviceAPI::CopyStridedFromTo> copy_strided{};
  static constexpr Method<&DeviceAPI::CopyDataFromToAsync> copy_async{};
  static constexpr auto fill = Fill;
  static constexpr auto stream_new = StreamNew;
  static constexpr Method<&DeviceAPI::FreeStream> stream_free{};
  static constexpr Method<&DeviceAPI::StreamSync> stream_sync{};
  static constexpr Method<&DeviceAPI::StreamQuery> stream_query{};
  static constexpr auto stream_wait_stream = StreamWaitStream;
  static constexpr Method<&DeviceAPI::CreateEvent> event_new{};
  static constexpr Method<&DeviceAPI::RecordEvent> event_record{};
  static constexpr auto event_wait = EventWait;
  static constexpr Method<&DeviceAPI::EventSync> event_sync{};
  static constexpr Method<&DeviceAPI::EventQuery> event_query{};
  static constexpr Method<&DeviceAPI::EventElapsed> event_elapsed{};
  static constexpr Method<&DeviceAPI::FreeEvent> event_free{};
  static constexpr Method<&DeviceAPI::LoadCode> load_code{};
  static constexpr Method<&DeviceAPI::UnloadCode> unload_code{};
  static constexpr Method<&DeviceAPI::GetKernel> get_kernel{};
  static constexpr Method<&DeviceAPI::Launch> launch{};
};

void MakeTable(Backend* backend) {
  DeviceAPI& api = *backend->api;
  backend->scopes = api.MemoryScopes();
  for (const std::string& scope : backend->scopes) backend->scope_names.push_back(scope.c_str());
  backend->scope_names.push_back(nullptr);
  KpDeviceApi& table = backend->table;
  table.struct_size = sizeof table;
  table.abi_version = KP_DEVICE_ABI_VERSION;
  table.flags = api.flags() & ~static_cast<uint32_t>(KP_DEVICE_ASYNC_ALLOC);
  table.max_alignment = api.MaxAlignment();
  table.scopes = backend->scope_names.data();
  table.context = &api;
  FillServices<Services>(&table);
}

Backends& AllBackends() {
  static Backends& backends = *new Backends;  // until the process ends, as the host does
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
