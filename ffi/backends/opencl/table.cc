// The backend as the host sees it: one C function a service, none of which lets an exception out.
#include <kernpack/guard.h>
#include "shared/target_kinds.h"

#include <cstring>
#include <string_view>

#include "attributes.h"
#include "code.h"
#include "copy.h"
#include "backends/service_table.h"
#include "event.h"
#include "handles.h"
#include "stream.h"

namespace kernpack::opencl {
namespace {

using device_table::View;
using Api = const KpDeviceApi*;

const KpHost* the_host;  // written once, by open()

template <class Body>
int Serve(const char* function, Body&& body) noexcept {
  return detail::guarded(the_host, function, [&] { body(function); });
}

const Device& Open(const char* function, KpDLDevice device) { return Backend::Get().Open(function, device.device_id); }

void SetReason(const std::string& reason, KpAny* out) {
  out->type_index = KP_TYPE_RAW_STR;
  out->v.v_c_str = reason.c_str();  // the backend's, which lives until the process ends
}

struct Services {
  static int count(Api, int32_t* count, KpAny* reason) {
    return Serve("count", [&](const char*) {
      const Backend& backend = Backend::Get();
      *count = static_cast<int32_t>(backend.devices().size());
      if (*count == 0) SetReason(backend.reason(), reason);
    });
  }

  static int get_attr(Api, KpDLDevice device, int32_t kind, KpAny* out) {
    return Serve("get_attr", [&](const char* f) { GetAttribute(f, device.device_id, kind, out); });
  }

  static int get_property(Api, KpDLDevice device, KpBytes name, KpAny* out) {
    return Serve("get_property", [&](const char* f) { GetProperty(f, device.device_id, name, out); });
  }

  static int alloc(Api, KpDLDevice device, uint64_t bytes, uint64_t alignment, KpBytes scope, void** handle) {
    return Serve("alloc", [&](const char* f) {
      *handle = Buffers::Get().Allocate(f, Open(f, device), bytes, alignment, View(scope));
    });
  }

  static int free(Api, KpDLDevice device, void* handle) {
    return Serve("free", [&](const char* f) { Buffers::Get().Free(f, Open(f, device), handle); });
  }

  static int copy(Api, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream) {
    return Serve("copy", [&](const char* f) { Copy(f, *from, *to, bytes, stream, HostMemory::kFreeOnReturn); });
  }

  static int copy_strided(Api, const KpMemory* from, const KpMemory* to, const KpStridedCopy* box, void* stream,
                          int32_t* done) {
    return Serve("copy_strided", [&](const char* f) { *done = CopyStrided(f, *from, *to, *box, stream); });
  }

  static int copy_async(Api, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream, void** event) {
    return Serve("copy_async", [&](const char* f) {
      const KpMemory& mine = from->device.device_type == KP_DEVICE_OPENCL ? *from : *to;
      EventRef mark = Copy(f, *from, *to, bytes, stream, HostMemory::kBusyUntilEvent);
      *event = Handles<Event>::Get().Add(std::make_shared<Event>(&Open(f, mine.device), std::move(mark)));
    });
  }

  static int fill(Api, const KpMemory* to, uint64_t bytes, int32_t value, void* stream) {
    return Serve("fill", [&](const char* f) { Fill(f, *to, bytes, value, stream); });
  }

  static int stream_new(Api, KpDLDevice device, int32_t, void** stream) {  // OpenCL's queues have no priorities
    return Serve("stream_new", [&](const char* f) {
      *stream = Handles<Stream>::Get().Add(std::make_shared<Stream>(f, &Open(f, device)));
    });
  }

  static int stream_free(Api, KpDLDevice device, void* stream) {
    return Serve("stream_free", [&](const char* f) {
      if (stream != nullptr) Handles<Stream>::Get().Remove(f, Open(f, device), stream);
    });
  }

  static int stream_sync(Api, KpDLDevice device, void* stream) {
    return Serve("stream_sync", [&](const char* f) { Stream::Find(f, Open(f, device), stream)->Sync(f); });
  }

  static int stream_query(Api, KpDLDevice device, void* stream, int32_t* done) {
    return Serve("stream_query", [&](const char* f) { *done = Stream::Find(f, Open(f, device), stream)->Idle(f); });
  }

  static int stream_wait_stream(Api, KpDLDevice device, void* waiting, void* other) {
    return Serve("stream_wait_stream", [&](const char* f) {
      if (waiting == other) return;
      const Device& d = Open(f, device);
      const EventRef mark = Stream::Find(f, d, other)->Mark(f);
      Stream::Find(f, d, waiting)->Await(f, mark.get());
    });
  }

  static int event_new(Api, KpDLDevice device, int32_t timing, void** event) {
    return Serve("event_new", [&](const char* f) {
      *event = Handles<Event>::Get().Add(std::make_shared<Event>(&Open(f, device), timing != 0));
    });
  }

  static int event_record(Api, KpDLDevice device, void* event, void* stream) {
    return Serve("event_record", [&](const char* f) {
      const Device& d = Open(f, device);
      Handles<Event>::Get().Find(f, d, event)->Record(Stream::Find(f, d, stream)->Mark(f));
    });
  }

  static int event_wait(Api, KpDLDevice device, void* event, void* stream) {
    return Serve("event_wait", [&](const char* f) {
      const Device& d = Open(f, device);
      const EventRef mark = Handles<Event>::Get().Find(f, d, event)->mark();
      if (mark) Stream::Find(f, d, stream)->Await(f, mark.get());
    });
  }

  static int event_sync(Api, KpDLDevice device, void* event) {
    return Serve("event_sync", [&](const char* f) {
      const EventRef mark = Handles<Event>::Get().Find(f, Open(f, device), event)->mark();
      if (mark) mark.Wait(f);
    });
  }

  static int event_query(Api, KpDLDevice device, void* event, int32_t* done) {
    return Serve("event_query", [&](const char* f) {
      const EventRef mark = Handles<Event>::Get().Find(f, Open(f, device), event)->mark();
      *done = !mark || mark.Done(f);
    });
  }

  static int event_elapsed(Api, KpDLDevice device, void* begin, void* end, double* milliseconds) {
    return Serve("event_elapsed", [&](const char* f) {
      const Device& d = Open(f, device);
      *milliseconds = Elapsed(f, *Handles<Event>::Get().Find(f, d, begin), *Handles<Event>::Get().Find(f, d, end));
    });
  }

  static int event_free(Api, KpDLDevice device, void* event) {
    return Serve("event_free", [&](const char* f) {
      if (event != nullptr) Handles<Event>::Get().Remove(f, Open(f, device), event);
    });
  }

  static int load_code(Api, KpDLDevice device, KpBytes image, KpBytes format, KpBytes options, void** code) {
    return Serve("load_code", [&](const char* f) {
      *code = Handles<Code>::Get().Add(
          std::make_shared<Code>(f, &Open(f, device), View(image), View(format), View(options)));
    });
  }

  static int unload_code(Api, KpDLDevice device, void* code) {
    return Serve("unload_code", [&](const char* f) {
      if (code != nullptr) Handles<Code>::Get().Remove(f, Open(f, device), code);
    });
  }

  static int get_kernel(Api, KpDLDevice device, void* code, KpBytes name, void** kernel) {
    return Serve("get_kernel", [&](const char* f) {
      *kernel = Handles<Code>::Get().Find(f, Open(f, device), code)->GetKernel(f, View(name));
    });
  }

  static int launch(Api, KpDLDevice device, void* kernel, const KpLaunch* launch, void* stream) {
    return Serve("launch", [&](const char* f) {
      const Device& d = Open(f, device);
      const std::shared_ptr<Kernel> found = Handles<Kernel>::Get().Find(f, d, kernel);
      found->Launch(f, *launch, Stream::Find(f, d, stream).get());
    });
  }
};

constexpr uint32_t kFlags =
    KP_DEVICE_STREAMS | KP_DEVICE_EVENTS | KP_DEVICE_STRIDED_COPY | KP_DEVICE_ASYNC_COPY | KP_DEVICE_CODE;

// Every OpenCL device aligns its buffers to the size of a long16 at least.
constexpr uint32_t kMaxAlignment = 128;

KpDeviceApi MakeTable() {
  static const char* const scopes[] = {kScopeNames[0], kScopeNames[1], nullptr};
  KpDeviceApi table{};
  table.struct_size = sizeof table;
  table.abi_version = KP_DEVICE_ABI_VERSION;
  table.flags = kFlags;
  table.max_alignment = kMaxAlignment;
  table.scopes = scopes;
  table.properties = PropertyNames();
  device_table::FillServices<Services>(&table);
  return table;
}

int OpenBackend(const KpHost* host, int32_t, const KpDeviceApi** out, KpAny* reason) {
  the_host = host;
  return Serve("open", [&](const char*) {
    const Backend& backend = Backend::Get();
    if (backend.has_driver()) {
      static const KpDeviceApi table = MakeTable();
      *out = &table;
    } else {
      SetReason(backend.reason(), reason);
    }
  });
}

const char* const kTargetKinds[] = {host::kOpenClKind, nullptr};

constexpr KpBackend kBackend = {
    .struct_size = sizeof(KpBackend),
    .abi_version = KP_DEVICE_ABI_VERSION,
    .name = "opencl",
    .device_type = KP_DEVICE_OPENCL,
    .target_kinds = kTargetKinds,
    .open = &OpenBackend,
};

}  // namespace
}  // namespace kernpack::opencl

extern "C" KP_EXPORT_SYMBOL const KpBackend* kp_backend_v1(int32_t index) {
  return index == 0 ? &kernpack::opencl::kBackend : nullptr;
}
