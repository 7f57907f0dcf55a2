// Device memory: which handles there are, and what is behind each.
#ifndef KERNPACK_BACKENDS_OPENCL_BUFFERS_H_
#define KERNPACK_BACKENDS_OPENCL_BUFFERS_H_

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

#include "backend.h"

namespace kernpack::opencl {

// global: read and written by kernels. constant: kernels only read it, from __constant or const parameters; copies fill it.
enum class Scope : uint8_t { kGlobal, kConstant };
inline constexpr const char* kScopeNames[] = {"global", "constant"};

struct Buffer {
  cl_mem memory = nullptr;  // NULL when there are no bytes
  uint64_t bytes = 0;
  int32_t device = 0;
  Scope scope = Scope::kGlobal;
};

// Live allocations by handle. A handle is the cl_mem itself; OpenCL has no buffers without bytes, so those share one
// handle that isn't a cl_mem. Any thread.
class Buffers {
 public:
  static Buffers& Get();

  // ValueError, MemoryError. `alignment`: bytes, a power of two; `scope`: "", "global" or "constant".
  void* Allocate(const char* function, const Device& device, uint64_t bytes, uint64_t alignment,
                 std::string_view scope);
  // ValueError unless it is a live handle of this device; NULL does nothing.
  void Free(const char* function, const Device& device, void* handle);
  // ValueError when [offset, offset + bytes) is not within a live allocation of this device.
  Buffer Find(const char* function, const Device& device, const void* handle, uint64_t offset, uint64_t bytes) const;
  // Changes whenever an allocation goes: while it stands still, what Find() gave for a handle holds.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  // Bytes allocated on a device now.
  uint64_t Allocated(int32_t device) const;

 private:
  Buffer Search(const char* function, const Device& device, const void* handle) const;

  std::atomic<uint64_t> generation_{1};
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, Buffer> live_;
  std::unordered_map<int32_t, uint64_t> allocated_;
};

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_BUFFERS_H_
