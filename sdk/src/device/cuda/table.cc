#include "device/cuda/table.h"

#include <exception>
#include <new>

#include "device/cuda/attributes.h"
#include "device/cuda/code.h"
#include "device/cuda/copy.h"
#include "device/cuda/launch.h"
#include "device/cuda/memory.h"
#include "device/cuda/stream.h"
#include "device/cuda/target.h"
#include "device/cuda/text.h"

namespace kernpack::cuda {
namespace {

const char* const kCudaScopes[] = {"global", "managed", "host", nullptr};
const char* const kOneScope[] = {"global", nullptr};

std::string_view View(KpBytes bytes) { return bytes.size ? std::string_view(bytes.data, bytes.size) : ""; }
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

// The device whose stream a copy runs on.
KpDLDevice CopyDevice(const KpMemory* from, const KpMemory* to) {
  return IsOurs(from->device.device_type) ? from->device : to->device;
}

Stream AsStream(void* stream) { return static_cast<Stream>(stream); }
Event AsEvent(void* event) { return static_cast<Event>(event); }

int Count(const KpDeviceApi* api, int32_t* count, KpAny* reason) {
  return Guarded(api, [&](const Backend& backend) {
    *count = backend.count();
    if (*count == 0) SetText(backend.why_none(), reason);
    return 0;
  });
}

int GetAttr(const KpDeviceApi* api, KpDLDevice device, int32_t kind, KpAny* out) {
  return WithDevice(api, device, [&](const Device& d) { return GetAttribute(d, kind, out); });
}

int GetProp(const KpDeviceApi* api, KpDLDevice device, KpBytes name, KpAny* out) {
  return WithDevice(api, device, [&](const Device& d) { return GetProperty(d, View(name), out); });
}

int SetDevice(const KpDeviceApi* api, KpDLDevice device) {
  return WithDevice(api, device, [](const Device& d) { return SetActive(d); });
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

int FreeMemory(const KpDeviceApi* api, KpDLDevice device, void* handle) {
  return WithDevice(api, device, [&](const Device& d) { return Free(d, handle); });
}

int AllocAsync(const KpDeviceApi* api, KpDLDevice device, uint64_t bytes, uint64_t /*alignment*/, void* stream,
               void** handle) {
  return WithDevice(api, device, [&](const Device& d) { return AllocateOn(d, bytes, AsStream(stream), handle); });
}

int FreeAsync(const KpDeviceApi* api, KpDLDevice device, void* handle, void* stream) {
  return WithDevice(api, device, [&](const Device& d) { return FreeOn(d, handle, AsStream(stream)); });
}

int CopyMemory(const KpDeviceApi* api, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream) {
  return WithDevice(api, CopyDevice(from, to),
                    [&](const Device& d) { return Copy(d, *from, *to, bytes, AsStream(stream)); });
}

// The driver stages what no hardware path joins.
int CanCopy(const KpDeviceApi* /*api*/, KpDLDevice from, KpDLDevice to, int32_t* can) {
  const auto known = [](int32_t type) { return IsOurs(type) || type == KP_DEVICE_CPU; };
  *can = known(from.device_type) && known(to.device_type);
  return 0;
}

int CopyBox(const KpDeviceApi* api, const KpMemory* from, const KpMemory* to, const KpStridedCopy* box, void* stream,
            int32_t* done) {
  return WithDevice(api, CopyDevice(from, to),
                    [&](const Device& d) { return CopyStrided(d, *from, *to, *box, AsStream(stream), done); });
}

int CopyLater(const KpDeviceApi* api, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream,
              void** event) {
  return WithDevice(api, CopyDevice(from, to), [&](const Device& d) {
    Event made = nullptr;
    const int code = CopyAsync(d, *from, *to, bytes, AsStream(stream), &made);
    *event = made;
    return code;
  });
}

int FillMemory(const KpDeviceApi* api, const KpMemory* to, uint64_t bytes, int32_t value, void* stream) {
  return WithDevice(api, to->device, [&](const Device& d) {
    return Fill(d, *to, bytes, static_cast<unsigned char>(value), AsStream(stream));
  });
}

int StreamNew(const KpDeviceApi* api, KpDLDevice device, int32_t priority, void** out) {
  return WithDevice(api, device, [&](const Device& d) {
    Stream made = nullptr;
    const int code = NewStream(d, priority, &made);
    *out = made;
    return code;
  });
}

int StreamFree(const KpDeviceApi* api, KpDLDevice device, void* stream) {
  return WithDevice(api, device, [&](const Device& d) { return FreeStream(d, AsStream(stream)); });
}

int StreamSync(const KpDeviceApi* api, KpDLDevice device, void* stream) {
  return WithDevice(api, device, [&](const Device& d) { return SyncStream(d, AsStream(stream)); });
}

int StreamQuery(const KpDeviceApi* api, KpDLDevice device, void* stream, int32_t* done) {
  return WithDevice(api, device, [&](const Device& d) { return QueryStream(d, AsStream(stream), done); });
}

int StreamWaitStream(const KpDeviceApi* api, KpDLDevice device, void* waiting, void* other) {
  return WithDevice(api, device, [&](const Device& d) { return WaitForStream(d, AsStream(waiting), AsStream(other)); });
}

int EventNew(const KpDeviceApi* api, KpDLDevice device, int32_t timing, void** out) {
  return WithDevice(api, device, [&](const Device& d) {
    Event made = nullptr;
    const int code = NewEvent(d, timing != 0, &made);
    *out = made;
    return code;
  });
}

int EventRecord(const KpDeviceApi* api, KpDLDevice device, void* event, void* stream) {
  return WithDevice(api, device, [&](const Device& d) { return RecordEvent(d, AsEvent(event), AsStream(stream)); });
}

int EventWait(const KpDeviceApi* api, KpDLDevice device, void* event, void* stream) {
  return WithDevice(api, device, [&](const Device& d) { return WaitForEvent(d, AsEvent(event), AsStream(stream)); });
}

int EventSync(const KpDeviceApi* api, KpDLDevice device, void* event) {
  return WithDevice(api, device, [&](const Device& d) { return SyncEvent(d, AsEvent(event)); });
}

int EventQuery(const KpDeviceApi* api, KpDLDevice device, void* event, int32_t* done) {
  return WithDevice(api, device, [&](const Device& d) { return QueryEvent(d, AsEvent(event), done); });
}

int EventElapsed(const KpDeviceApi* api, KpDLDevice device, void* begin, void* end, double* milliseconds) {
  return WithDevice(api, device,
                    [&](const Device& d) { return ElapsedBetween(d, AsEvent(begin), AsEvent(end), milliseconds); });
}

int EventFree(const KpDeviceApi* api, KpDLDevice device, void* event) {
  return WithDevice(api, device, [&](const Device& d) { return FreeEvent(d, AsEvent(event)); });
}

int CodeLoad(const KpDeviceApi* api, KpDLDevice device, KpBytes image, KpBytes format, KpBytes options, void** out) {
  return WithDevice(api, device, [&](const Device& d) {
    Code* code = nullptr;
    const int result = LoadCode(d, View(image), View(format), View(options), &code);
    *out = code;
    return result;
  });
}

int CodeUnload(const KpDeviceApi* api, KpDLDevice device, void* code) {
  return WithDevice(api, device, [&](const Device& d) { return UnloadCode(d, static_cast<Code*>(code)); });
}

int KernelGet(const KpDeviceApi* api, KpDLDevice device, void* code, KpBytes name, void** out) {
  return WithDevice(api, device, [&](const Device& d) {
    Kernel* kernel = nullptr;
    const int result = GetKernel(d, static_cast<Code*>(code), View(name), &kernel);
    *out = kernel;
    return result;
  });
}

int LaunchKernel(const KpDeviceApi* api, KpDLDevice device, void* kernel, const KpLaunch* launch, void* stream) {
  return WithDevice(
      api, device, [&](const Device& d) { return Launch(d, static_cast<Kernel*>(kernel), *launch, AsStream(stream)); });
}

int TargetMatches(const KpDeviceApi* api, KpDLDevice device, KpBytes target, int32_t* rank, KpAny* reason) {
  return WithDevice(api, device, [&](const Device& d) {
    std::string why;
    *rank = MatchTarget(d, View(target), &why);
    SetText(why, reason);
    return 0;
  });
}

int TrimPool(const KpDeviceApi* api, KpDLDevice device) {
  return WithDevice(api, device, [](const Device& d) { return Trim(d); });
}

}  // namespace

KpDeviceApi MakeTable(const Backend* backend, int32_t device_type) {
  const bool is_cuda = device_type == KP_DEVICE_CUDA;
  const uint32_t common = KP_DEVICE_ADDRESSES | KP_DEVICE_STREAMS | KP_DEVICE_EVENTS | KP_DEVICE_STRIDED_COPY |
                          KP_DEVICE_ASYNC_COPY | KP_DEVICE_PEER_COPY;
  KpDeviceApi table{};
  table.struct_size = sizeof table;
  table.abi_version = KP_DEVICE_ABI_VERSION;
  table.flags = common | (is_cuda ? KP_DEVICE_CODE | KP_DEVICE_ASYNC_ALLOC : KP_DEVICE_HOST_ACCESS);
  table.max_alignment = kAlignment;
  table.scopes = is_cuda ? kCudaScopes : kOneScope;
  table.properties = kProperties;
  table.context = const_cast<Backend*>(backend);
  table.count = Count;
  table.get_attr = GetAttr;
  table.get_property = GetProp;
  table.set_device = SetDevice;
  table.get_device = GetDevice;
  table.alloc = Alloc;
  table.free = FreeMemory;
  table.copy = CopyMemory;
  table.can_copy = CanCopy;
  table.copy_strided = CopyBox;
  table.copy_async = CopyLater;
  table.fill = FillMemory;
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
  if (!is_cuda) return table;
  table.alloc_async = AllocAsync;
  table.free_async = FreeAsync;
  table.load_code = CodeLoad;
  table.unload_code = CodeUnload;
  table.get_kernel = KernelGet;
  table.launch = LaunchKernel;
  table.match_target = TargetMatches;
  table.trim = TrimPool;
  return table;
}

}  // namespace kernpack::cuda
