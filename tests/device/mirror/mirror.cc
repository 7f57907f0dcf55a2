// A DeviceAPI that hands everything on to the devices of another type, registered as device type "mirror". The conformance suite
// runs on it, so every service crosses the class in both directions: table, class, table, class, table.
#include <kernpack/host/device.h>
#include <kernpack/sdk/device_backend.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using kernpack::Any;
using kernpack::Device;
using kernpack::sdk::DeviceAPI;
using kernpack::sdk::DeviceAttrKind;
using kernpack::sdk::EventHandle;
using kernpack::sdk::StreamHandle;

class Mirror final : public DeviceAPI {
 public:
  Mirror(int32_t type, DeviceAPI* of, int32_t of_type) : type_(type), of_(*of), of_type_(of_type) {}

  int32_t DeviceCount(std::string* why) override { return of_.DeviceCount(why); }
  uint32_t flags() const override { return of_.flags(); }
  std::vector<std::string> MemoryScopes() const override { return of_.MemoryScopes(); }
  uint32_t MaxAlignment() const override { return of_.MaxAlignment(); }
  Any GetAttr(Device device, DeviceAttrKind kind) override { return of_.GetAttr(Of(device), kind); }
  Any GetTargetProperty(Device device, std::string_view name) override {
    return of_.GetTargetProperty(Of(device), name);
  }
  void SetDevice(Device device) override { of_.SetDevice(Of(device)); }
  int32_t GetDevice() override { return of_.GetDevice(); }

  void* AllocDataSpace(Device device, size_t nbytes, size_t alignment, std::string_view scope) override {
    return of_.AllocDataSpace(Of(device), nbytes, alignment, scope);
  }
  void FreeDataSpace(Device device, void* ptr) override { of_.FreeDataSpace(Of(device), ptr); }
  void CopyDataFromTo(const void* from, size_t from_offset, void* to, size_t to_offset, size_t nbytes,
                      Device device_from, Device device_to, StreamHandle stream) override {
    of_.CopyDataFromTo(from, from_offset, to, to_offset, nbytes, Of(device_from), Of(device_to), stream);
  }
  EventHandle CopyDataFromToAsync(const KpMemory& from, const KpMemory& to, size_t nbytes,
                                  StreamHandle stream) override {
    return of_.CopyDataFromToAsync(Of(from), Of(to), nbytes, stream);
  }
  bool CopyStridedFromTo(const KpMemory& from, const KpMemory& to, const KpStridedCopy& box,
                         StreamHandle stream) override {
    return of_.CopyStridedFromTo(Of(from), Of(to), box, stream);
  }
  // Of a pair with another type's device the original would take the other's queue, where the host waits for ours.
  bool CanCopy(Device from, Device to) override {
    return from.type == type_ && to.type == type_ && of_.CanCopy(Of(from), Of(to));
  }
  void Fill(Device device, void* to, size_t offset, size_t nbytes, uint8_t value, StreamHandle stream) override {
    of_.Fill(Of(device), to, offset, nbytes, value, stream);
  }

  StreamHandle CreateStream(Device device) override { return of_.CreateStream(Of(device)); }
  void FreeStream(Device device, StreamHandle stream) override { of_.FreeStream(Of(device), stream); }
  void StreamSync(Device device, StreamHandle stream) override { of_.StreamSync(Of(device), stream); }
  bool StreamQuery(Device device, StreamHandle stream) override { return of_.StreamQuery(Of(device), stream); }
  void SyncStreamFromTo(Device device, StreamHandle src, StreamHandle dst) override {
    of_.SyncStreamFromTo(Of(device), src, dst);
  }

  EventHandle CreateEvent(Device device, bool timing) override { return of_.CreateEvent(Of(device), timing); }
  void FreeEvent(Device device, EventHandle event) override { of_.FreeEvent(Of(device), event); }
  void RecordEvent(Device device, EventHandle event, StreamHandle stream) override {
    of_.RecordEvent(Of(device), event, stream);
  }
  void StreamWaitEvent(Device device, StreamHandle stream, EventHandle event) override {
    of_.StreamWaitEvent(Of(device), stream, event);
  }
  void EventSync(Device device, EventHandle event) override { of_.EventSync(Of(device), event); }
  bool EventQuery(Device device, EventHandle event) override { return of_.EventQuery(Of(device), event); }
  double EventElapsed(Device device, EventHandle begin, EventHandle end) override {
    return of_.EventElapsed(Of(device), begin, end);
  }

  void* LoadCode(Device device, std::string_view image, std::string_view format, std::string_view options) override {
    return of_.LoadCode(Of(device), image, format, options);
  }
  void UnloadCode(Device device, void* code) override { of_.UnloadCode(Of(device), code); }
  void* GetKernel(Device device, void* code, std::string_view name) override {
    return of_.GetKernel(Of(device), code, name);
  }
  void Launch(Device device, void* kernel, const KpLaunch& launch, StreamHandle stream) override {
    of_.Launch(Of(device), kernel, launch, stream);
  }

 private:
  Device Of(Device device) const { return device.type == type_ ? Device{of_type_, device.id} : device; }
  KpMemory Of(const KpMemory& place) const { return {place.handle, place.offset, Of(Device(place.device))}; }

  int32_t type_;
  DeviceAPI& of_;
  int32_t of_type_;
};

DeviceAPI* Open(int32_t type, std::string* why) {
  const char* name = std::getenv("MIRROR_OF");
  if (name == nullptr) {
    *why = "MIRROR_OF names no device type";
    return nullptr;
  }
  KpDLDevice of{};
  const bool known = kp_device_from_name(kp_bytes(name), &of) == 0;
  DeviceAPI* api = known ? DeviceAPI::Get(of.device_type, /*allow_missing=*/true) : nullptr;
  if (api == nullptr) {
    *why = std::string("there is no device of type ") + name;
    return nullptr;
  }
  return new Mirror(type, api, of.device_type);  // devices stay open until the process ends
}

const bool g_registered = [] {
  kernpack::sdk::DeviceBackendSpec spec{};
  spec.name = "mirror";
  spec.open = Open;
  kernpack::sdk::RegisterDeviceAPI(spec);
  return true;
}();

}  // namespace
