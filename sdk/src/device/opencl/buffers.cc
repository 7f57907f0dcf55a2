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
                         << NameOf(device.index) << ", got " << alignment;
  }
  if (bytes == 0) return &zero_size_handle;
  if (bytes > device.max_allocation) {
    KP_THROW(MemoryError) << function << ": " << bytes << " bytes on " << NameOf(device.index)
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
  Buffer found;
  found.device = device.index;
  if (handle != &zero_size_handle) {
    const std::shared_lock lock(mutex_);
    const auto at = live_.find(handle);
    if (at == live_.end() || at->second.device != device.index) {
      const std::string where =
          at == live_.end() ? "it was freed, or not allocated here" : "it is on " + NameOf(at->second.device);
      KP_THROW(ValueError) << function << ": " << handle << " is no allocation on " << NameOf(device.index) << ": "
                           << where;
    }
    found = at->second;
  }
  if (offset > found.bytes || bytes > found.bytes - offset) {
    KP_THROW(ValueError) << function << ": bytes " << offset << " to " << offset + bytes
                         << " are outside the allocation of " << found.bytes << " bytes on " << NameOf(device.index);
  }
  return found;
}

uint64_t Buffers::Allocated(int32_t device) const {
  const std::shared_lock lock(mutex_);
  const auto at = allocated_.find(device);
  return at == allocated_.end() ? 0 : at->second;
}

}  // namespace kernpack::opencl
