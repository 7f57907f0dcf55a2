// Scratch memory that is kept between calls.
#ifndef KERNPACK_WORKSPACE_H_
#define KERNPACK_WORKSPACE_H_

#include <kernpack/foreign/workspace.h>
#include <kernpack/storage.h>

KP_NAMESPACE_BEGIN

enum WorkspaceInit : uint32_t {
  uninitialized = 0,
  zeroed = KP_WORKSPACE_ZEROED,  // zeroed when allocated or grown; between calls the contents stay
};

// Scratch memory of a call: at least `bytes` bytes on a device, 256-byte aligned, valid until the call returns. Calls with the same
// key get the same memory: one per stream, on the CPU one per thread.
//
//   const kp::Workspace scratch(x.device(), "sums", rows * sizeof(float));
//   float* sums = scratch.data_as<float>();
//   std::fill_n(sums, rows, 0.0f);
class Workspace {
 public:
  Workspace(Device device, StringView key, uint64_t bytes, WorkspaceInit init = uninitialized) : bytes_(bytes) {
    const detail::Instance& instance = detail::current();
    const KpStorageKey k = detail::storage_key(key, device_scope(device));
    detail::check_host(instance.foreign ? detail::foreign_workspace(instance.host, key, device, bytes, init, &data_)
                                        : instance.host->workspace(instance.host, &k, bytes, init, &data_));
  }

  void* data() const { return data_; }
  template <class T>
  T* data_as() const {
    return static_cast<T*>(data_);
  }
  uint64_t size() const { return bytes_; }

 private:
  void* data_ = nullptr;
  uint64_t bytes_;
};

KP_NAMESPACE_END

#endif  // KERNPACK_WORKSPACE_H_
