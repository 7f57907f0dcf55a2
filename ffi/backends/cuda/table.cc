#include "backends/cuda/backend.h"

#include <exception>
#include <new>
#include <tuple>
#include <utility>

#include "backends/cuda/attributes.h"
#include "backends/cuda/code.h"
#include "backends/cuda/copy.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/stream.h"
#include "backends/cuda/text.h"
#include "backends/service_table.h"

namespace kernpack::cuda {
namespace {

using device_table::FillServices;
using device_table::Passed;
using device_table::Service;
using device_table::View;

const char* const kCudaScopes[] = {"global", "managed", "host", nullptr};
const char* const kOneScope[] = {"global", nullptr};

const Backend& Of(const KpDeviceApi* api) { return *static_cast<const Backend*>(api->context); }

// No exception leaves the table: what the C++ library throws is an error like others.
template <class F>
int Guarded(const KpDeviceApi* api, F body) noexcept {
  const KpHost* host = Of(api).host();
  try {
    return body(Of(api));
  } catch (const std::bad_alloc&) {
    return Raise(host, "MemoryError", "cuda: out of host memory");
  } catch (const std::exception& error) {
    return Raise(host, "RuntimeError", error.what());
  } catch (...) {
    return Raise(host, "RuntimeError", "cuda: an unknown exception");
  }
}

template <class F>
int WithDevice(const KpDeviceApi* api, KpDLDevice device, F body) noexcept {
  return Guarded(api, [&](const Backend& backend) {
    const Device* found = backend.Find(device.device_id);
    return found == nullptr ? -1 : body(*found);
  });
}

bool IsOurs(int32_t type) {
  return type == KP_DEVICE_CUDA || type == KP_DEVICE_CUDA_HOST || type == KP_DEVICE_CUDA_MANAGED;
}

// The device that a service with such parameters is for; of a copy, the one whose stream it runs on.
template <class... Rest>
KpDLDevice FindDevice(KpDLDevice device, Rest...) {
  return device;
}
template <class... Rest>
KpDLDevice FindDevice(const KpMemory* from, const KpMemory* to, Rest...) {
  return IsOurs(from->device.device_type) ? from->device : to->device;
}
template <class... Rest>
KpDLDevice FindDevice(const KpMemory* to, uint64_t, Rest...) {
  return to->device;
}

// A function that takes what the service takes, in its order, the device first.
template <auto Function, class Type = decltype(Function)>
struct OnDevice;
template <auto Function, class... Args>
struct OnDevice<Function, int (*)(const Device&, Args...)> {
  template <class... Given>
  static int Call(const KpDeviceApi* api, Given... given) {
    const std::tuple all(given...);
    constexpr size_t kFirst = sizeof...(Given) - sizeof...(Args);  // 1 where the service names the device
    const auto call = [&]<size_t... kPlace>(const Device& device, std::index_sequence<kPlace...>) {
      return Function(device, Passed<Args>(std::get<kFirst + kPlace>(all))...);
    };
    return WithDevice(api, FindDevice(given...),
                      [&](const Device& device) { return call(device, std::index_sequence_for<Args...>()); });
  }
  template <class... Given>
  constexpr operator Service<Given...>() const {
    return Call<Given...>;
  }
};

int Count(const KpDeviceApi* api, int32_t* count, KpAny* reason) {
  return Guarded(api, [&](const Backend& backend) {
    *count = backend.count();
    if (*count == 0) SetText(backend.why_none(), reason);
    return 0;
  });
}

int GetDevice(const KpDeviceApi* api, int32_t* id) {
  return Guarded(api, [&](const Backend& backend) { return GetActive(backend, id); });
}

int Alloc(const KpDeviceApi* api, KpDLDevice device, uint64_t bytes, uint64_t alignment, KpBytes scope, void** handle) {
  return WithDevice(api, device, [&](const Device& d) {
    if (alignment > kAlignment) {
      return Raise(d.host(), "ValueError",
                   Format("%s: expected an alignment of at most %u bytes, got %llu", d.name().c_str(), kAlignment,
                          static_cast<unsigned long long>(alignment)));
    }
    MemoryKind kind = device.device_type == KP_DEVICE_CUDA_HOST      ? MemoryKind::kHost
                      : device.device_type == KP_DEVICE_CUDA_MANAGED ? MemoryKind::kManaged
                                                                     : MemoryKind::kGlobal;
    const std::string_view name = View(scope);
    const bool is_cuda = device.device_type == KP_DEVICE_CUDA;
    if (is_cuda && name == "managed") {
      kind = MemoryKind::kManaged;
    } else if (is_cuda && name == "host") {
      kind = MemoryKind::kHost;
    } else if (!name.empty() && name != "global") {
      return Raise(d.host(), "ValueError",
                   Format("%s: expected the memory scope %s, got '%.*s'", d.name().c_str(),
                          is_cuda ? "global, managed or host" : "global", static_cast<int>(name.size()), name.data()));
    }
    return Allocate(d, bytes, kind, handle);
  });
}

int AllocAsync(const KpDeviceApi* api, KpDLDevice device, uint64_t bytes, uint64_t /*alignment*/, void* stream,
               void** handle) {
  return WithDevice(api, device,
                    [&](const Device& d) { return AllocateOn(d, bytes, static_cast<Stream>(stream), handle); });
}

// The driver stages what no hardware path joins.
int CanCopy(const KpDeviceApi* /*api*/, KpDLDevice from, KpDLDevice to, int32_t* can) {
  const auto known = [](int32_t type) { return IsOurs(type) || type == KP_DEVICE_CPU; };
  *can = known(from.device_type) && known(to.device_type);
  return 0;
}

int TargetMatches(const KpDeviceApi* api, KpDLDevice device, KpBytes target, int32_t* rank, KpAny* reason) {
  return WithDevice(api, device, [&](const Device& d) {
    std::string why;
    *rank = MatchTarget(d, View(target), &why);
    SetText(why, reason);
    return 0;
  });
}

// Of all that a CUDA device type has: device memory, and the driver's memory on the host.
struct CommonServices {
  static constexpr auto count = Count;
  static constexpr OnDevice<GetAttribute> get_attr{};
  static constexpr OnDevice<GetProperty> get_property{};
  static constexpr OnDevice<SetActive> set_device{};
  static constexpr auto get_device = GetDevice;
  static constexpr auto alloc = Alloc;
  static constexpr OnDevice<Free> free{};
  static constexpr OnDevice<Copy> copy{};
  static constexpr auto can_copy = CanCopy;
  static constexpr OnDevice<CopyStrided> copy_strided{};
  static constexpr OnDevice<CopyAsync> copy_async{};
  static constexpr OnDevice<Fill> fill{};
  static constexpr OnDevice<NewStream> stream_new{};
  static constexpr OnDevice<FreeStream> stream_free{};
  static constexpr OnDevice<SyncStream> stream_sync{};
  static constexpr OnDevice<QueryStream> stream_query{};
  static constexpr OnDevice<WaitForStream> stream_wait_stream{};
  static constexpr OnDevice<NewEvent> event_new{};
  static constexpr OnDevice<RecordEvent> event_record{};
  static constexpr OnDevice<WaitForEvent> event_wait{};
  static constexpr OnDevice<SyncEvent> event_sync{};
  static constexpr OnDevice<QueryEvent> event_query{};
  static constexpr OnDevice<ElapsedBetween> event_elapsed{};
  static constexpr OnDevice<FreeEvent> event_free{};
};
struct CudaServices : CommonServices {
  static constexpr auto alloc_async = AllocAsync;
  static constexpr OnDevice<FreeOn> free_async{};
  static constexpr OnDevice<LoadCode> load_code{};
  static constexpr OnDevice<UnloadCode> unload_code{};
  static constexpr OnDevice<GetKernel> get_kernel{};
  static constexpr OnDevice<Launch> launch{};
  static constexpr auto match_target = TargetMatches;
  static constexpr OnDevice<Trim> trim{};
};

}  // namespace

KpDeviceApi MakeTable(const Backend* backend, int32_t device_type) {
  const bool is_cuda = device_type == KP_DEVICE_CUDA;
  const uint32_t common = KP_DEVICE_ADDRESSES | KP_DEVICE_STREAMS | KP_DEVICE_EVENTS | KP_DEVICE_STRIDED_COPY |
                          KP_DEVICE_ASYNC_COPY | KP_DEVICE_PEER_COPY;
  KpDeviceApi table{};
  table.struct_size = sizeof table;
  table.abi_version = KP_DEVICE_ABI_VERSION;
  table.flags =
      common | (is_cuda ? KP_DEVICE_CODE | KP_DEVICE_ASYNC_ALLOC | KP_DEVICE_COOPERATIVE : KP_DEVICE_HOST_ACCESS);
  table.max_alignment = kAlignment;
  table.scopes = is_cuda ? kCudaScopes : kOneScope;
  table.properties = kProperties;
  table.context = const_cast<Backend*>(backend);
  if (is_cuda) {
    FillServices<CudaServices>(&table);
  } else {
    FillServices<CommonServices>(&table);
  }
  return table;
}

}  // namespace kernpack::cuda
