// Memory of devices, asked for with the pools as a reserve.
#ifndef KERNPACK_SRC_DEVICES_MEMORY_H_
#define KERNPACK_SRC_DEVICES_MEMORY_H_

#include <cstdint>

#include <kernpack/device_api.h>

namespace kernpack::host {

// Runs `alloc` (returning 0, or -1 with an error raised). When it raises MemoryError, gives back what the pools and the backend
// keep for the device and runs it once more.
int AllocWithReserve(const KpDeviceApi* api, KpDLDevice device, int (*alloc)(void* context), void* context);

// As AllocWithReserve, for a lambda.
template <class Alloc>
int WithReserve(const KpDeviceApi* api, KpDLDevice device, Alloc alloc) {
  return AllocWithReserve(api, device, [](void* context) { return (*static_cast<Alloc*>(context))(); }, &alloc);
}

// Keeps this thread's raised error over code that may raise another, which is logged.
class ErrorKeeper {
 public:
  ErrorKeeper() noexcept;
  ErrorKeeper(const ErrorKeeper&) = delete;
  ErrorKeeper& operator=(const ErrorKeeper&) = delete;
  ~ErrorKeeper();

 private:
  KpAny kept_;
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_MEMORY_H_
