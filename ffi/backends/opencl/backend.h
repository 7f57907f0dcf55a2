// The devices of this process: listed once, each opened when it is first used, none ever closed.
#ifndef KERNPACK_BACKENDS_OPENCL_BACKEND_H_
#define KERNPACK_BACKENDS_OPENCL_BACKEND_H_

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "platforms.h"

namespace kernpack::opencl {

class Stream;

// An opened device. Immutable after that; any thread.
struct Device {
  const EntryPoints* cl = nullptr;
  const DeviceFacts* facts = nullptr;
  int32_t index = 0;
  cl_context context = nullptr;
  std::shared_ptr<Stream> default_stream;  // what a NULL stream means
  uint64_t max_allocation = 0;               // bytes of one buffer
  uint64_t max_constant = 0;                 // bytes of one __constant argument
  uint64_t alignment = 0;                    // bytes; of every allocation
  size_t max_group = 0;                      // work items of a work group
  size_t max_items[3] = {};                  // of each of its dimensions
  uint64_t local_memory = 0;                 // bytes a work group may use
};

class Backend {
 public:
  // The only one; the driver is opened by the first call. Process exit leaks it: a driver may be gone by then.
  static Backend& Get();

  // True if there is an OpenCL library.
  bool has_driver() const { return cl_.clGetPlatformIDs != nullptr; }
  // Why there is no device, or "".
  const std::string& reason() const { return list_.reason; }
  const std::vector<DeviceFacts>& devices() const { return list_.devices; }
  const EntryPoints& cl() const { return cl_; }
  // ValueError naming `function` and what there is when `index` is none of devices().
  const DeviceFacts& Facts(const char* function, int32_t index) const;
  // Returns the device, opened.
  const Device& Open(const char* function, int32_t index);

 private:
  struct Slot {
    std::mutex opening;
    std::atomic<bool> open{false};
    Device device;
  };

  Backend();
  void OpenSlot(const char* function, Device* device, int32_t index) const;

  EntryPoints cl_;
  DeviceList list_;
  std::deque<Slot> slots_;
};

// "opencl:0", for messages.
std::string GetName(int32_t index);

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_BACKEND_H_
