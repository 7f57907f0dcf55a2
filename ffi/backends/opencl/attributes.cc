#include "attributes.h"

#include <array>
#include <cstdio>
#include <iterator>
#include <string_view>

#include "shared/bytes.h"

#include "buffers.h"

namespace kernpack::opencl {
namespace {

// Since OpenCL 3.0; older drivers refuse it, and there is then no such fact.
constexpr cl_device_info kPreferredGroupMultiple = 0x1067;
constexpr int64_t kWidestPixel = 16;  // bytes: four channels of 32 bits

void SetText(std::string text, KpAny* out) {
  thread_local std::string kept;
  if (text.empty()) return;
  kept = std::move(text);
  out->type_index = KP_TYPE_RAW_STR;
  out->v.v_c_str = kept.c_str();
}

void SetInt(int64_t value, KpAny* out) {
  out->type_index = KP_TYPE_INT;
  out->v.v_int = value;
}

// An integer property of type T, times `unit`. Nothing where the driver has none.
template <class T>
void SetNumber(const Backend& backend, const DeviceFacts& facts, cl_device_info what, KpAny* out, int64_t unit = 1) {
  T value = 0;
  if (DeviceValue(backend.cl(), facts.id, what, &value)) SetInt(static_cast<int64_t>(value) * unit, out);
}

void SetMaxThreadDimensions(const Backend& backend, const DeviceFacts& facts, KpAny* out) {
  size_t items[16] = {};
  if (!DeviceValue(backend.cl(), facts.id, CL_DEVICE_MAX_WORK_ITEM_SIZES, &items)) return;
  SetText("[" + std::to_string(items[0]) + ", " + std::to_string(items[1]) + ", " + std::to_string(items[2]) + "]",
          out);
}

// 300 for "OpenCL 3.0 ...".
int64_t VersionNumber(const DeviceFacts& facts) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(facts.version.c_str(), "OpenCL %d.%d", &major, &minor) != 2) return 0;
  return major * 100 + minor * 10;
}

void SetCacheSize(const Backend& backend, const DeviceFacts& facts, KpAny* out) {
  cl_device_mem_cache_type type = CL_NONE;
  if (DeviceValue(backend.cl(), facts.id, CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, &type) && type != CL_NONE) {
    SetNumber<cl_ulong>(backend, facts, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, out);
  }
}

// OpenCL states pixels; in bytes it is what suits every format. 0 means that images are never made from buffers.
void SetImagePitch(const Backend& backend, const DeviceFacts& facts, KpAny* out) {
  constexpr cl_device_info kImagePitchAlignment = 0x104A;  // in the headers of OpenCL 2.0
  cl_uint pixels = 0;
  if (DeviceValue(backend.cl(), facts.id, kImagePitchAlignment, &pixels) && pixels > 0)
    SetInt(pixels * kWidestPixel, out);
}

struct Property {
  const char* name;
  void (*get)(const Backend&, const DeviceFacts&, KpAny*);
};

template <cl_device_info What>
void TextProperty(const Backend& backend, const DeviceFacts& facts, KpAny* out) {
  SetText(DeviceText(backend.cl(), facts.id, What), out);
}
template <class T, cl_device_info What>
void NumberProperty(const Backend& backend, const DeviceFacts& facts, KpAny* out) {
  SetNumber<T>(backend, facts, What, out);
}

const char* TypeName(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return "gpu";
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return "accelerator";
  return type & CL_DEVICE_TYPE_CPU ? "cpu" : "other";
}

constexpr Property kProperties[] = {
    {"platform", [](const Backend&, const DeviceFacts& f, KpAny* out) { SetText(f.platform_name, out); }},
    {"vendor", [](const Backend&, const DeviceFacts& f, KpAny* out) { SetText(f.vendor, out); }},
    {"type", [](const Backend&, const DeviceFacts& f, KpAny* out) { SetText(TypeName(f.type), out); }},
    {"version", [](const Backend&, const DeviceFacts& f, KpAny* out) { SetText(f.version, out); }},
    {"c_version", &TextProperty<CL_DEVICE_OPENCL_C_VERSION>},
    {"extensions", &TextProperty<CL_DEVICE_EXTENSIONS>},
    {"max_allocation_bytes", &NumberProperty<cl_ulong, CL_DEVICE_MAX_MEM_ALLOC_SIZE>},
    {"max_constant_bytes", &NumberProperty<cl_ulong, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE>},
    {"allocated_bytes",
     [](const Backend& backend, const DeviceFacts& f, KpAny* out) {
       SetInt(static_cast<int64_t>(Buffers::Get().Allocated(static_cast<int32_t>(&f - backend.devices().data()))), out);
     }},
    {"preferred_work_group_multiple", &NumberProperty<size_t, kPreferredGroupMultiple>},
    {"address_bits", &NumberProperty<cl_uint, CL_DEVICE_ADDRESS_BITS>},
};

}  // namespace

const char* const* PropertyNames() {
  static constexpr auto kNames = [] {
    std::array<const char*, std::size(kProperties) + 1> names = {};
    for (size_t i = 0; i < std::size(kProperties); ++i) names[i] = kProperties[i].name;
    return names;
  }();
  return kNames.data();
}

void GetAttribute(const char* function, int32_t device, int32_t kind, KpAny* out) {
  const Backend& backend = Backend::Get();
  const DeviceFacts& facts = backend.Facts(function, device);
  switch (kind) {
    case KP_ATTR_MAX_THREADS_PER_BLOCK:
      return SetNumber<size_t>(backend, facts, CL_DEVICE_MAX_WORK_GROUP_SIZE, out);
    case KP_ATTR_MAX_SHARED_MEMORY_PER_BLOCK:
      return SetNumber<cl_ulong>(backend, facts, CL_DEVICE_LOCAL_MEM_SIZE, out);
    case KP_ATTR_COMPUTE_VERSION: {
      const int64_t version = VersionNumber(facts);
      return SetText(std::to_string(version / 100) + "." + std::to_string(version / 10 % 10), out);
    }
    case KP_ATTR_DEVICE_NAME:
      return SetText(facts.name, out);
    case KP_ATTR_MAX_CLOCK_RATE:
      return SetNumber<cl_uint>(backend, facts, CL_DEVICE_MAX_CLOCK_FREQUENCY, out, 1000);  // MHz to kHz
    case KP_ATTR_MULTI_PROCESSOR_COUNT:
      return SetNumber<cl_uint>(backend, facts, CL_DEVICE_MAX_COMPUTE_UNITS, out);
    case KP_ATTR_MAX_THREAD_DIMENSIONS:
      return SetMaxThreadDimensions(backend, facts, out);
    case KP_ATTR_API_VERSION:
      return SetInt(VersionNumber(facts), out);
    case KP_ATTR_DRIVER_VERSION:
      return SetText(facts.driver_version, out);
    case KP_ATTR_L2_CACHE_SIZE_BYTES:
      return SetCacheSize(backend, facts, out);
    case KP_ATTR_TOTAL_GLOBAL_MEMORY:
      return SetNumber<cl_ulong>(backend, facts, CL_DEVICE_GLOBAL_MEM_SIZE, out);
    case KP_ATTR_IMAGE_PITCH_ALIGNMENT:
      return SetImagePitch(backend, facts, out);
    default:
      // OpenCL tells no warp size (a kernel has a preferred multiple, which is less), registers, GCN name or free memory.
      return;
  }
}

void GetProperty(const char* function, int32_t device, KpBytes name, KpAny* out) {
  const Backend& backend = Backend::Get();
  const DeviceFacts& facts = backend.Facts(function, device);
  for (const Property& property : kProperties) {
    if (host::View(name) == property.name) return property.get(backend, facts, out);
  }
}

}  // namespace kernpack::opencl
