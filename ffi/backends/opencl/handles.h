// Objects that callers hold by pointer: a handle that was freed, or never was one, is an error, not a crash.
#ifndef KERNPACK_BACKENDS_OPENCL_HANDLES_H_
#define KERNPACK_BACKENDS_OPENCL_HANDLES_H_

#include <memory>
#include <mutex>
#include <unordered_map>

#include "backend.h"
#include "error.h"

namespace kernpack::opencl {

// The live objects of one class, each of which has a member `const Device* device` and a static `kWhat`, what messages call
// one ("stream"). Any thread; whoever finds an object keeps it while another thread frees it.
template <class T>
class Handles {
 public:
  static Handles& Get() {
    static Handles* const handles = new Handles();
    return *handles;
  }

  void* Add(std::shared_ptr<T> object) {
    void* handle = object.get();
    const std::lock_guard lock(mutex_);
    live_.emplace(handle, std::move(object));
    return handle;
  }

  // ValueError unless it is a live handle of this device.
  std::shared_ptr<T> Find(const char* function, const Device& device, const void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto at = live_.find(handle);
    if (at == live_.end() || at->second->device != &device) Refuse(function, device, handle);
    return at->second;
  }

  // The same; later searches do not find it.
  std::shared_ptr<T> Remove(const char* function, const Device& device, const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto at = live_.find(handle);
    if (at == live_.end() || at->second->device != &device) Refuse(function, device, handle);
    std::shared_ptr<T> object = std::move(at->second);
    live_.erase(at);
    return object;
  }

  // For destructors, which have no error to raise: nothing happens where it isn't live.
  void Forget(const void* handle) {
    const std::lock_guard lock(mutex_);
    live_.erase(handle);
  }

 private:
  [[noreturn]] static void Refuse(const char* function, const Device& device, const void* handle) {
    KP_THROW(ValueError) << function << ": no " << T::kWhat << " of " << GetName(device.index) << " has the handle "
                         << handle << ": it was freed, or belongs to another device";
  }

  mutable std::mutex mutex_;  // a shared one costs more than the search
  std::unordered_map<const void*, std::shared_ptr<T>> live_;
};

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_HANDLES_H_
