// Resources of devices that a run holds: memory and events. Each is released with its owner.
#ifndef KERNPACK_SDK_PROGRAMS_EXECUTE_MEMORY_H_
#define KERNPACK_SDK_PROGRAMS_EXECUTE_MEMORY_H_

#include <kernpack/sdk/device_api.h>

#include <atomic>
#include <string>
#include <utility>

namespace kernpack::sdk::program {

// Counts bytes held; any thread.
class Meter {
 public:
  void Add(uint64_t bytes) {
    const uint64_t now = held_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    uint64_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
  }
  void Remove(uint64_t bytes) { held_.fetch_sub(bytes, std::memory_order_relaxed); }
  uint64_t held() const { return held_.load(std::memory_order_relaxed); }
  uint64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> held_ = 0;
  std::atomic<uint64_t> peak_ = 0;
};

// One allocation on one device, which grows when more is asked for.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  DeviceBlock(DeviceBlock&& other) noexcept { Swap(other); }
  DeviceBlock& operator=(DeviceBlock&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~DeviceBlock() { Free(); }

  // At least `bytes`; what was in it goes when it grows. `meter` (nullable) outlives this. Throws as AllocDataSpace().
  void* Reserve(DeviceAPI* api, Device device, uint64_t bytes, const std::string& scope, Meter* meter) {
    if (api_ && bytes <= bytes_) return data_;
    Free();  // first: the device may have room for one of the two only
    data_ = api->AllocDataSpace(device, bytes, kAlignment, scope);
    api_ = api;
    device_ = device;
    bytes_ = bytes;
    meter_ = meter;
    if (meter_) meter_->Add(bytes_);
    return data_;
  }

 private:
  static constexpr size_t kAlignment = 64;

  DeviceAPI* api_ = nullptr;  // null: nothing is allocated
  Device device_;
  void* data_ = nullptr;
  uint64_t bytes_ = 0;
  Meter* meter_ = nullptr;

  void Free() noexcept {
    if (!api_) return;
    if (meter_) meter_->Remove(bytes_);
    try {
      api_->FreeDataSpace(device_, data_);
    } catch (const Error&) {
      // The device is lost, and its memory with it.
    }
    api_ = nullptr;
  }
  void Swap(DeviceBlock& other) {
    std::swap(api_, other.api_);
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(meter_, other.meter_);
  }
};

// A point in a stream.
class DeviceEvent {
 public:
  DeviceEvent() = default;
  DeviceEvent(DeviceAPI* api, Device device, EventHandle owned) : api_(api), device_(device), event_(owned) {}
  DeviceEvent(DeviceEvent&& other) noexcept { Swap(other); }
  DeviceEvent& operator=(DeviceEvent&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~DeviceEvent() {
    if (!api_) return;
    try {
      api_->FreeEvent(device_, event_);
    } catch (const Error&) {
      // The device is lost.
    }
  }

  explicit operator bool() const { return api_ != nullptr; }
  EventHandle get() const { return event_; }

 private:
  DeviceAPI* api_ = nullptr;
  Device device_;
  EventHandle event_ = nullptr;

  void Swap(DeviceEvent& other) {
    std::swap(api_, other.api_);
    std::swap(device_, other.device_);
    std::swap(event_, other.event_);
  }
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_EXECUTE_MEMORY_H_
