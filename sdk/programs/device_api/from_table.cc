// A KpDeviceApi as a DeviceAPI.
#include <kernpack/sdk/device_api.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "device_api/devices.h"
#include "backends/service_table.h"
#include "target/host.h"

namespace kernpack::sdk {
namespace {

using host::Bytes;

// A DeviceAPI that calls the host's table, which checks devices and is complete.
class TableDeviceAPI final : public DeviceAPI {
 public:
  TableDeviceAPI(int32_t type, const KpDeviceApi* api) : type_(type), api_(api) {}

  int32_t DeviceCount(std::string*) override {
    int32_t count = 0;
    Check(HostDevices().device_count(type_, &count, nullptr));
    return count;
  }
  uint32_t flags() const override { return api_->flags; }
  std::vector<std::string> MemoryScopes() const override {
    std::vector<std::string> scopes;
    for (const char* const* scope = api_->scopes; *scope != nullptr; ++scope) scopes.emplace_back(*scope);
    return scopes;
  }
  uint32_t MaxAlignment() const override { return api_->max_alignment; }

  Any GetAttr(Device device, DeviceAttrKind kind) override {
    Any value;
    Check(api_->get_attr(api_, device, static_cast<int32_t>(kind), value.out()));
    return value;
  }
  Any GetTargetProperty(Device device, std::string_view property) override {
    Any value;
    Check(api_->get_property(api_, device, Bytes(property), value.out()));
    return value;
  }
  void SetDevice(Device device) override { Check(api_->set_device(api_, device)); }
  int32_t GetDevice() override {
    int32_t id = 0;
    Check(api_->get_device(api_, &id));
    return id;
  }

  void* AllocDataSpace(Device device, size_t nbytes, size_t alignment, std::string_view mem_scope) override {
    void* handle = nullptr;
    Check(api_->alloc(api_, device, nbytes, alignment, Bytes(mem_scope), &handle));
    return handle;
  }
  void FreeDataSpace(Device device, void* ptr) override { Check(api_->free(api_, device, ptr)); }
  void CopyDataFromTo(const void* from, size_t from_offset, void* to, size_t to_offset, size_t nbytes,
                      Device device_from, Device device_to, StreamHandle stream) override {
    const KpMemory source{const_cast<void*>(from), from_offset, device_from};
    const KpMemory target{to, to_offset, device_to};
    Check(api_->copy(api_, &source, &target, nbytes, stream));
  }
  EventHandle CopyDataFromToAsync(const KpMemory& from, const KpMemory& to, size_t nbytes,
                                  StreamHandle stream) override {
    void* event = nullptr;
    Check(api_->copy_async(api_, &from, &to, nbytes, stream, &event));
    return event;
  }
  bool CopyStridedFromTo(const KpMemory& from, const KpMemory& to, const KpStridedCopy& box,
                         StreamHandle stream) override {
    int32_t done = 0;
    Check(api_->copy_strided(api_, &from, &to, &box, stream, &done));
    return done != 0;
  }
  bool CanCopy(Device from, Device to) override {
    int32_t can = 0;
    Check(api_->can_copy(api_, from, to, &can));
    return can != 0;
  }
  void Fill(Device device, void* to, size_t offset, size_t nbytes, uint8_t value, StreamHandle stream) override {
    const KpMemory target{to, offset, device};
    Check(api_->fill(api_, &target, nbytes, value, stream));
  }

  StreamHandle CreateStream(Device device) override {
    void* stream = nullptr;
    Check(api_->stream_new(api_, device, 0, &stream));
    return stream;
  }
  void FreeStream(Device device, StreamHandle stream) override { Check(api_->stream_free(api_, device, stream)); }
  void StreamSync(Device device, StreamHandle stream) override { Check(api_->stream_sync(api_, device, stream)); }
  bool StreamQuery(Device device, StreamHandle stream) override {
    int32_t done = 0;
    Check(api_->stream_query(api_, device, stream, &done));
    return done != 0;
  }
  void SyncStreamFromTo(Device device, StreamHandle src, StreamHandle dst) override {
    Check(api_->stream_wait_stream(api_, device, dst, src));
  }

  EventHandle CreateEvent(Device device, bool timing) override {
    void* event = nullptr;
    Check(api_->event_new(api_, device, timing ? 1 : 0, &event));
    return event;
  }
  void FreeEvent(Device device, EventHandle event) override { Check(api_->event_free(api_, device, event)); }
  void RecordEvent(Device device, EventHandle event, StreamHandle stream) override {
    Check(api_->event_record(api_, device, event, stream));
  }
  void StreamWaitEvent(Device device, StreamHandle stream, EventHandle event) override {
    Check(api_->event_wait(api_, device, event, stream));
  }
  void EventSync(Device device, EventHandle event) override { Check(api_->event_sync(api_, device, event)); }
  bool EventQuery(Device device, EventHandle event) override {
    int32_t done = 0;
    Check(api_->event_query(api_, device, event, &done));
    return done != 0;
  }
  double EventElapsed(Device device, EventHandle begin, EventHandle end) override {
    double milliseconds = 0;
    Check(api_->event_elapsed(api_, device, begin, end, &milliseconds));
    return milliseconds;
  }

  void* LoadCode(Device device, std::string_view image, std::string_view format, std::string_view options) override {
    void* code = nullptr;
    Check(api_->load_code(api_, device, Bytes(image), Bytes(format), Bytes(options), &code));
    return code;
  }
  void UnloadCode(Device device, void* code) override { Check(api_->unload_code(api_, device, code)); }
  void* GetKernel(Device device, void* code, std::string_view name) override {
    void* kernel = nullptr;
    Check(api_->get_kernel(api_, device, code, Bytes(name), &kernel));
    return kernel;
  }
  void Launch(Device device, void* kernel, const KpLaunch& launch, StreamHandle stream) override {
    Check(api_->launch(api_, device, kernel, &launch, stream));
  }

 private:
  int32_t type_;
  const KpDeviceApi* api_;
};

struct Known {
  std::mutex mutex;
  std::map<int32_t, std::unique_ptr<DeviceAPI>> by_type;
};

}  // namespace

DeviceAPI* DeviceAPI::Get(int32_t device_type, bool allow_missing) {
  static Known& known = *new Known;  // never freed: devices are used until the process ends
  {
    const std::lock_guard lock(known.mutex);
    const auto place = known.by_type.find(device_type);
    if (place != known.by_type.end()) return place->second.get();
  }
  int32_t count = 0;
  const KpDeviceApi* api = nullptr;
  Check(HostDevices().device_count(device_type, &count, nullptr));
  if (count == 0 && allow_missing) return nullptr;
  Check(HostDevices().device_api(device_type, &api));
  const std::lock_guard lock(known.mutex);
  auto& made = known.by_type[device_type];
  if (made == nullptr) made = std::make_unique<TableDeviceAPI>(device_type, api);
  return made.get();
}

}  // namespace kernpack::sdk
