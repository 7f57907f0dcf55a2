#include "platforms.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <tuple>

#include "error.h"

namespace kernpack::opencl {
namespace {

// The text behind any clGet...Info(object, what, size, value, size_needed).
template <class Getter, class Object>
std::string InfoText(Getter get, Object object, cl_uint what) {
  size_t size = 0;
  if (get(object, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (get(object, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  text.resize(std::min(text.find('\0'), text.size()));
  const size_t first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

int Rank(cl_device_type type) {
  if (type & CL_DEVICE_TYPE_GPU) return 0;
  if (type & CL_DEVICE_TYPE_ACCELERATOR) return 1;
  return type & CL_DEVICE_TYPE_CPU ? 2 : 3;
}

// "OpenCL <major>.<minor> ...", at least 1.2.
bool IsNewEnough(const std::string& version) {
  int major = 0;
  int minor = 0;
  return std::sscanf(version.c_str(), "OpenCL %d.%d", &major, &minor) == 2 && (major > 1 || (major == 1 && minor >= 2));
}

// Adds what a platform has; appends to `refused` why a device, or all of it, is left out.
void AddPlatform(const EntryPoints& cl, cl_platform_id platform, std::vector<DeviceFacts>* devices,
                 std::string* refused) {
  const std::string platform_name = InfoText(cl.clGetPlatformInfo, platform, CL_PLATFORM_NAME);
  const auto refuse = [&](std::string_view who, std::string_view why) {
    refused->append(refused->empty() ? "" : "; ").append(who).append(" ").append(why);
  };
  cl_uint count = 0;
  const cl_int status = cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (status == CL_DEVICE_NOT_FOUND || (status == CL_SUCCESS && count == 0)) {
    refuse("platform '" + platform_name + "'", "has no device");
    return;
  }
  std::vector<cl_device_id> ids(count);
  if (status != CL_SUCCESS ||
      cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr) != CL_SUCCESS) {
    refuse("platform '" + platform_name + "'", std::string("cannot list its devices: ") + ErrorName(status));
    return;
  }
  for (cl_device_id id : ids) {
    DeviceFacts facts;
    facts.platform = platform;
    facts.id = id;
    DeviceValue(cl, id, CL_DEVICE_TYPE, &facts.type);
    facts.platform_name = platform_name;
    facts.platform_version = InfoText(cl.clGetPlatformInfo, platform, CL_PLATFORM_VERSION);
    facts.vendor = DeviceText(cl, id, CL_DEVICE_VENDOR);
    facts.name = DeviceText(cl, id, CL_DEVICE_NAME);
    facts.version = DeviceText(cl, id, CL_DEVICE_VERSION);
    facts.driver_version = DeviceText(cl, id, CL_DRIVER_VERSION);
    cl_bool available = CL_FALSE;
    DeviceValue(cl, id, CL_DEVICE_AVAILABLE, &available);
    if (!available) {
      refuse("device '" + facts.name + "'", "is not available");
    } else if (!IsNewEnough(facts.version)) {
      refuse("device '" + facts.name + "'", "speaks '" + facts.version + "', OpenCL 1.2 is needed");
    } else {
      devices->push_back(std::move(facts));
    }
  }
}

}  // namespace

std::string DeviceText(const EntryPoints& cl, cl_device_id device, cl_device_info what) {
  return InfoText(cl.clGetDeviceInfo, device, what);
}

DeviceList ListDevices(const EntryPoints& cl) {
  DeviceList list;
  cl_uint count = 0;
  const cl_int status = cl.clGetPlatformIDs(0, nullptr, &count);
  if (status != CL_SUCCESS || count == 0) {
    list.reason = "no OpenCL driver is installed: libOpenCL finds no platform";
    if (status != CL_SUCCESS) list.reason += std::string(" (") + ErrorName(status) + ")";
    list.reason +=
        "; install one (Debian: pocl-opencl-icd runs on any CPU) that puts an .icd file into /etc/OpenCL/vendors";
    return list;
  }
  std::vector<cl_platform_id> platforms(count);
  if (cl.clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) platforms.clear();
  std::string refused;
  for (cl_platform_id platform : platforms) AddPlatform(cl, platform, &list.devices, &refused);
  std::stable_sort(list.devices.begin(), list.devices.end(), [](const DeviceFacts& a, const DeviceFacts& b) {
    const auto key = [](const DeviceFacts& d) {
      return std::tuple(Rank(d.type), std::string_view(d.platform_name), std::string_view(d.vendor),
                        std::string_view(d.name));
    };
    return key(a) < key(b);
  });
  if (list.devices.empty()) list.reason = "no OpenCL device can be used: " + refused;
  return list;
}

}  // namespace kernpack::opencl
