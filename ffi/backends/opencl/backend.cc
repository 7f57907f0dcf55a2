#include "backend.h"

#include <algorithm>

#include "entry_points.h"
#include "error.h"
#include "stream.h"

namespace kernpack::opencl {

std::string GetName(int32_t index) { return "opencl:" + std::to_string(index); }

Backend& Backend::Get() {
  static Backend* const backend = new Backend();
  return *backend;
}

Backend::Backend() {
  list_.reason = OpenDriver(&cl_);
  if (!list_.reason.empty()) return;
  list_ = ListDevices(cl_);
  slots_.resize(list_.devices.size());
}

const DeviceFacts& Backend::Facts(const char* function, int32_t index) const {
  const auto count = static_cast<int32_t>(list_.devices.size());
  if (index >= 0 && index < count) return list_.devices[static_cast<size_t>(index)];
  if (count == 0) KP_THROW(RuntimeError) << function << ": " << GetName(index) << " does not exist: " << list_.reason;
  KP_THROW(ValueError) << function << ": " << GetName(index) << " does not exist: this machine has "
                       << (count == 1 ? "opencl:0 only" : "opencl:0 to " + GetName(count - 1));
}

const Device& Backend::Open(const char* function, int32_t index) {
  Facts(function, index);
  Slot& slot = slots_[static_cast<size_t>(index)];
  if (slot.open.load(std::memory_order_acquire)) return slot.device;
  const std::lock_guard lock(slot.opening);
  if (!slot.open.load(std::memory_order_relaxed)) OpenSlot(function, &slot.device, index);
  slot.open.store(true, std::memory_order_release);
  return slot.device;
}

void Backend::OpenSlot(const char* function, Device* out, int32_t index) const {
  Device& d = *out;
  d.cl = &cl_;
  d.facts = &list_.devices[static_cast<size_t>(index)];
  d.index = index;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(d.facts->platform), 0};
  cl_int status = CL_SUCCESS;
  d.context = cl_.clCreateContext(properties, 1, &d.facts->id, nullptr, nullptr, &status);
  Check(status, "clCreateContext", function, index);
  cl_ulong number = 0;
  if (DeviceValue(cl_, d.facts->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &number)) d.max_allocation = number;
  if (DeviceValue(cl_, d.facts->id, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, &number)) d.max_constant = number;
  if (DeviceValue(cl_, d.facts->id, CL_DEVICE_LOCAL_MEM_SIZE, &number)) d.local_memory = number;
  cl_uint bits = 0;
  if (DeviceValue(cl_, d.facts->id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, &bits)) d.alignment = bits / 8;
  DeviceValue(cl_, d.facts->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, &d.max_group);
  size_t items[16] = {};  // a device may have more dimensions than the three that are used
  if (DeviceValue(cl_, d.facts->id, CL_DEVICE_MAX_WORK_ITEM_SIZES, &items)) std::copy_n(items, 3, d.max_items);
  d.default_stream = std::make_shared<Stream>(function, &d);
}

}  // namespace kernpack::opencl
