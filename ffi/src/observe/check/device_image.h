// Memory of a device for a checked call: a block's bytes are copied there before the call, and fetched when its work is done.
// The backend's own copies do both, so that memory of any device is looked at as the processor's is.
#ifndef KERNPACK_SRC_OBSERVE_CHECK_DEVICE_IMAGE_H_
#define KERNPACK_SRC_OBSERVE_CHECK_DEVICE_IMAGE_H_

#include <list>
#include <mutex>

#include <kernpack/device_api.h>

#include "observe/check/block.h"

namespace kernpack::host::check {

constexpr KpDLDevice kHere{KP_DEVICE_CPU, 0};

// A device and the stream that a call queues its work on.
struct DeviceInUse {
  KpDLDevice device;
  void* stream;
  const KpDeviceApi* api;  // NULL: its memory cannot be looked at now

  bool HasAddresses() const { return (api->flags & KP_DEVICE_ADDRESSES) != 0; }
  // Both return 0, or -1 with an error raised. The host memory has its data on return.
  int Fetch(void* handle, uint64_t offset, void* to, uint64_t bytes) const;
  int Send(const void* from, void* handle, uint64_t offset, uint64_t bytes) const;
};

// The devices that a call uses, on all of its threads.
class DevicesInUse {
 public:
  // Waits for what is queued there already. Where that fails, as while a stream is captured into a graph, `api` is NULL and the
  // reason was printed or logged. `function`: who asks. Valid as long as this object.
  const DeviceInUse& Use(KpDLDevice device, void* stream, const char* function);
  // Waits for all of them. 0, or -1 with the error raised that came out.
  int Wait();

 private:
  std::mutex mutex_;
  std::list<DeviceInUse> all_;
};

class DeviceImage {
 public:
  explicit DeviceImage(const DeviceInUse& where) : where_(where) {}
  DeviceImage(const DeviceImage&) = delete;
  DeviceImage& operator=(const DeviceImage&) = delete;
  ~DeviceImage();

  // Copies the block there. `from_data`: without the zone in front of the data, where a kernel gets a handle without an offset.
  int Make(const Block& block, bool from_data);
  // Copies it back, guard zones too.
  int Fetch(const Block& block) const;

  void* handle() const { return handle_; }
  uint64_t offset() const { return offset_; }  // of the data
  bool Holds(const void* address) const;

 private:
  DeviceInUse where_;
  void* handle_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t left_out_ = 0;  // bytes in front that are not there
  uint64_t offset_ = 0;
};

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_OBSERVE_CHECK_DEVICE_IMAGE_H_
