// Devices in memory of the host that count what is held of them and fail on request.
#pragma once

#include <kernpack/host/host.h>
#include <kernpack/sdk/device_backend.h>
#include <kernpack/sdk/target_kind.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

namespace execute_test {

// The device type "fake", of two devices. What is queued is done at once, so streams and events only count.
class FakeDevice : public kernpack::sdk::DeviceAPI {
 public:
  using Device = kernpack::Device;
  using StreamHandle = kernpack::sdk::StreamHandle;
  using EventHandle = kernpack::sdk::EventHandle;

  static FakeDevice& The() {
    static FakeDevice& one = *new FakeDevice;  // until the process ends, as what is registered
    return one;
  }
  // Registered at the first call.
  static int32_t Type() {
    static const int32_t type = [] {
      kernpack::sdk::DeviceBackendSpec spec;
      spec.name = "fake";
      spec.open = [](int32_t, std::string*) -> kernpack::sdk::DeviceAPI* { return &The(); };
      kernpack::sdk::RegisterDeviceAPI(spec);
      kernpack::sdk::TargetKindBuilder("fake_code", "fake").Register();
      KpDLDevice device{};
      kp_device_from_name(kp_bytes("fake"), &device);
      return device.device_type;
    }();
    return type;
  }
  static Device Number(int32_t id) { return {Type(), id}; }

  // The n-th allocation from now on fails; 0: none does.
  void FailAllocation(int n) { until_failure_ = n; }
  // Everything fails.
  void Lose(bool lost) { lost_ = lost; }

  std::atomic<int64_t> bytes = 0;  // held
  std::atomic<int64_t> allocations = 0;  // held
  std::atomic<int64_t> made = 0;  // allocations so far
  std::atomic<int64_t> streams = 0;  // held
  std::atomic<int64_t> events = 0;  // held

  uint32_t flags() const override {
    return KP_DEVICE_ADDRESSES | KP_DEVICE_STREAMS | KP_DEVICE_EVENTS | KP_DEVICE_ASYNC_COPY;
  }
  int32_t DeviceCount(std::string*) override { return 2; }
  kernpack::Any GetAttr(Device, kernpack::sdk::DeviceAttrKind) override { return {}; }
  void SetDevice(Device device) override { Active() = device.id; }
  int32_t GetDevice() override { return Active(); }

  void* AllocDataSpace(Device, size_t nbytes, size_t, std::string_view) override {
    Enter();
    ++made;
    if (until_failure_ > 0 && --until_failure_ == 0)
      KP_THROW(MemoryError) << "fake: out of memory for " << nbytes << " bytes";
    auto* block = static_cast<size_t*>(std::malloc(kHeader + nbytes));
    *block = nbytes;
    bytes += static_cast<int64_t>(nbytes);
    ++allocations;
    return reinterpret_cast<char*>(block) + kHeader;
  }
  void FreeDataSpace(Device, void* ptr) override {
    auto* block = reinterpret_cast<size_t*>(static_cast<char*>(ptr) - kHeader);
    bytes -= static_cast<int64_t>(*block);
    --allocations;
    std::free(block);
  }
  void CopyDataFromTo(const void* from, size_t from_offset, void* to, size_t to_offset, size_t nbytes, Device, Device,
                      StreamHandle) override {
    Enter();
    std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, nbytes);
  }
  EventHandle CopyDataFromToAsync(const KpMemory& from, const KpMemory& to, size_t nbytes, StreamHandle) override {
    CopyDataFromTo(from.handle, from.offset, to.handle, to.offset, nbytes, from.device, to.device, nullptr);
    return CreateEvent({}, false);
  }
  void Fill(Device, void* to, size_t offset, size_t nbytes, uint8_t value, StreamHandle) override {
    std::memset(static_cast<char*>(to) + offset, value, nbytes);
  }

  StreamHandle CreateStream(Device) override {
    Enter();
    ++streams;
    return new char;
  }
  void FreeStream(Device, StreamHandle stream) override {
    --streams;
    delete static_cast<char*>(stream);
  }
  void StreamSync(Device, StreamHandle) override { Enter(); }
  bool StreamQuery(Device, StreamHandle) override { return true; }
  void SyncStreamFromTo(Device, StreamHandle, StreamHandle) override { Enter(); }

  EventHandle CreateEvent(Device, bool) override {
    Enter();
    ++events;
    return new char;
  }
  void FreeEvent(Device, EventHandle event) override {
    --events;
    delete static_cast<char*>(event);
  }
  void RecordEvent(Device, EventHandle, StreamHandle) override { Enter(); }
  void StreamWaitEvent(Device, StreamHandle, EventHandle) override { Enter(); }
  void EventSync(Device, EventHandle) override { Enter(); }
  bool EventQuery(Device, EventHandle) override { return true; }
  double EventElapsed(Device, EventHandle, EventHandle) override { return 0; }

 private:
  static constexpr size_t kHeader = 64;

  std::atomic<int> until_failure_ = 0;
  std::atomic<bool> lost_ = false;

  void Enter() const {
    if (lost_) KP_THROW(RuntimeError) << "fake: the device is lost";
  }
  static int32_t& Active() {
    static thread_local int32_t id = 0;
    return id;
  }
};

}  // namespace execute_test
