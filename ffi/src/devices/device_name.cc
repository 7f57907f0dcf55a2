// Names of devices. Files and text store names only; the numbers are DLPack's, or allotted in this process.
#include <cstdio>
#include <string_view>

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/guard.h"
#include "base/intern.h"
#include "devices/names.h"
#include "devices/registry.h"
#include "values/tensor/dltensor.h"

namespace kernpack::host {
namespace {

struct NamedDevice {
  std::string_view name;
  int32_t type;
};

// The canonical name of each type comes first; then what frameworks call it.
constexpr NamedDevice kNamedDevices[] = {
    {"cpu", KP_DEVICE_CPU},
    {"cuda", KP_DEVICE_CUDA},
    {"gpu", KP_DEVICE_CUDA},  // JAX
    {"cuda_host", KP_DEVICE_CUDA_HOST},
    {"opencl", KP_DEVICE_OPENCL},
    {"vulkan", KP_DEVICE_VULKAN},
    {"metal", KP_DEVICE_METAL},
    {"mps", KP_DEVICE_METAL},  // torch
    {"vpi", KP_DEVICE_VPI},
    {"rocm", KP_DEVICE_ROCM},
    {"hip", KP_DEVICE_ROCM},
    {"rocm_host", KP_DEVICE_ROCM_HOST},
    {"ext_dev", KP_DEVICE_EXT},
    {"cuda_managed", KP_DEVICE_CUDA_MANAGED},
    {"oneapi", KP_DEVICE_ONEAPI},
    {"xpu", KP_DEVICE_ONEAPI},  // torch
    {"webgpu", KP_DEVICE_WEBGPU},
    {"hexagon", KP_DEVICE_HEXAGON},
    {"maia", KP_DEVICE_MAIA},
    {"trn", KP_DEVICE_TRN},
};

// Type 0: there is none of that name.
NamedDevice FindName(std::string_view name) {
  for (const NamedDevice& entry : kNamedDevices) {
    if (entry.name == name) return entry;
  }
  const Backend* backend = name.empty() ? nullptr : FindBackend(name);
  return backend != nullptr ? NamedDevice{backend->definition->name, backend->type} : NamedDevice{{}, 0};
}

int Parse(std::string_view name, KpDLDevice* out) {
  const size_t colon = name.find(':');
  const std::string_view type = name.substr(0, colon);
  int64_t id = 0;
  bool good_id = true;
  if (colon != std::string_view::npos) {
    const std::string_view digits = name.substr(colon + 1);
    good_id = !digits.empty() && digits.size() <= 9;
    for (char c : digits) {
      good_id = good_id && c >= '0' && c <= '9';
      id = good_id ? id * 10 + (c - '0') : 0;
    }
  }
  const NamedDevice found = FindName(type);
  if (found.type == 0) {
    return kp_raise("ValueError",
                    "unknown device '%.*s'; expected a device type (cpu, cuda, rocm, opencl, metal, ...) and "
                    "optionally an index: cuda:1",
                    PrintLength(name), name.data());
  }
  if (!good_id) {
    return kp_raise("ValueError", "device '%.*s': expected a number of up to 9 digits after the colon, such as %s:0",
                    PrintLength(name), name.data(), found.name.data());
  }
  *out = KpDLDevice{found.type, static_cast<int32_t>(id)};
  return 0;
}

const NamedDevice* FindType(int32_t type) {
  for (const NamedDevice& entry : kNamedDevices) {
    if (entry.type == type) return &entry;
  }
  return nullptr;
}

}  // namespace

bool IsKnownDeviceType(int32_t device_type) noexcept {
  return FindType(device_type) != nullptr || KnownBackend(device_type) != nullptr;
}

int32_t StaticDeviceType(std::string_view name) noexcept {
  for (const NamedDevice& entry : kNamedDevices) {
    if (entry.name == name) return FindType(entry.type)->name == name ? entry.type : -1;
  }
  return 0;
}

}  // namespace kernpack::host

using namespace kernpack::host;

int kp_device_from_name(KpBytes name, KpDLDevice* out) {
  return Guard("kp_device_from_name", [&] { return Parse(View(name), out); });
}

const char* kp_device_type_name(int32_t device_type) {
  if (const NamedDevice* device = FindType(device_type)) return device->name.data();
  if (const Backend* backend = KnownBackend(device_type)) return backend->definition->name;
  const char* name = "device_type";  // when there is no memory for the text of an unknown one
  Guard("kp_device_type_name", [&] {
    char text[32];
    std::snprintf(text, sizeof text, "device_type(%d)", device_type);
    name = Intern(text);
    return 0;
  });
  return name;
}
