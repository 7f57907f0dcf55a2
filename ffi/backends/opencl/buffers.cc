#include "buffers.h"

#include "error.h"

namespace kernpack::opencl {
namespace {

char zero_size_handle;  // its address is the handle of every allocation without bytes

Scope ParseScope(const char* function, std::string_view name) {
  if (name.empty() || name == kScopeNames[0]) return Scope::kGlobal;
  if (name == kScopeNames[1]) return Scope::kConstant;
  KP_THROW(ValueError) << function << ": opencl has no memory scope '" << name
                       << "'; expected 'global' (the default) or 'constant'";
}

}  // namespace

Buffers& Buffers::Get() {
  static Buffers* const buffers = new Buffers();
  return *buffers;
}

void* Buffers::Allocate(const char* function, const Device& device, uint64_t bytes, uint64_t alignment,
                        std::string_view scope_name) {
  const Scope scope = ParseScope(function, scope_name);
  if (alignment != 0 && ((alignment & (alignment - 1)) != 0 || alignment > device.alignment)) {
    KP_THROW(ValueError) << function << ": alignment: expected a power of two up to " << device.alignment << " on "
                         << GetName(device.index) << ", got " << alignment;
  }
  if (bytes == 0) return &zero_size_handle;
  if (bytes > device.max_allocation) {
    KP_THROW(MemoryError) << function << ": " << bytes << " bytes on " << GetName(device.index)
                          << ": this device allocates at most " << device.max_allocation << " bytes at once";
  }
  const cl_mem_flags flags = scope == Scope::kConstant ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE;
  cl_int status = CL_SUCCESS;
  const cl_mem memory = device.cl->clCreateBuffer(device.context, flags, bytes, nullptr, &status);
  if (status != CL_SUCCESS) {
    ThrowStatus(status, "clCreateBuffer", std::string(function) + " of " + std::to_string(bytes) + " bytes",
                device.index);
  }
  const std::unique_lock lock(mutex_);
  live_[memory] = {memory, bytes, device.index, scope};
  allocated_[device.index] += bytes;
  return memory;
}

void Buffers::Free(const char* function, const Device& device, void* handle) {
  if (handle == nullptr || handle == &zero_size_handle) return;
  const Buffer found = Find(function, device, handle, 0, 0);
  {
    const std::unique_lock lock(mutex_);
    generation_.fetch_add(1, std::memory_order_release);
    if (live_.erase(handle) == 0) {
      KP_THROW(ValueError) << function << ": two threads freed " << static_cast<const void*>(handle) << " at once";
    }
    allocated_[device.index] -= found.bytes;
  }
  // Commands that were queued earlier still have it: OpenCL frees the memory after them.
  Check(device.cl->clReleaseMemObject(found.memory), "clReleaseMemObject", function, device.index);
}

Buffer Buffers::Find(const char* function, const Device& device, const void* handle, uint64_t offset,
                     uint64_t bytes) const {
  // A buffer that this thread has found before: a launch then takes no lock. Plain data, so that nothing runs when a thread ends.
  struct Found {
    const void* handle;
    uint64_t generation;
    Buffer buffer;
  };
  constexpr size_t kRemembered = 64;
  thread_local Found remembered[kRemembered];
  const uint64_t now = generation();
  Found& found = remembered[reinterpret_cast<uintptr_t>(handle) / kRemembered % kRemembered];
  if (found.handle != handle || found.generation != now || found.buffer.device != device.index) {
    found = {handle, now, Search(function, device, handle)};
  }
  const uint64_t size = found.buffer.bytes;
  if (offset > size || bytes > size - offset) {
    KP_THROW(ValueError) << function << ": bytes " << offset << " to " << offset + bytes
                         << " are outside the allocation of " << size << " bytes on " << GetName(device.index);
  }
  return found.buffer;
}

Buffer Buffers::Search(const char* function, const Device& device, const void* handle) const {
  if (handle == &zero_size_handle) return {nullptr, 0, device.index, Scope::kGlobal};
  const std::shared_lock lock(mutex_);
  const auto at = live_.find(handle);
  if (at != live_.end() && at->second.device == device.index) return at->second;
  const std::string where =
      at == live_.end() ? "it was freed, or not allocated here" : "it is on " + GetName(at->second.device);
  KP_THROW(ValueError) << function << ": " << handle << " isn't an allocation on " << GetName(device.index) << ": "
                       << where;
}

uint64_t Buffers::Allocated(int32_t device) const {
  const std::shared_lock lock(mutex_);
  const auto at = allocated_.find(device);
  return at == allocated_.end() ? 0 : at->second;
}

}  // namespace kernpack::opencl
