// Registering a new DeviceAPI, for callers in C, C++ and Python.
#ifndef KERNPACK_SDK_DEVICE_BACKEND_H_
#define KERNPACK_SDK_DEVICE_BACKEND_H_

#include <kernpack/sdk/codegen/generator.h>
#include <kernpack/sdk/device_api.h>

#include <functional>
#include <optional>
#include <string>

namespace kernpack::sdk {

struct DeviceBackendSpec {
  const char* name;  // of the device type: [a-z][a-z0-9_]*; static
  int32_t device_type = 0;  // DLPack's number if it has one for that name; 0: the host assigns one
  const char* const* target_kinds = nullptr;  // NULL-terminated; static
  // Makes the API when a device is first needed; it must live until the process ends. Returns NULL with *why set if there is no
  // driver. An exception is an error.
  DeviceAPI* (*open)(int32_t device_type, std::string* why) = nullptr;
  // Optional: the generator of target_kinds[0], for RegisterGenerator(). It uses no device.
  std::optional<Generator> generator;
  // May be empty. The global function "module.load.<target_kinds[0]>", which makes a module for this process from the path of code
  // that was built for this kind.
  std::function<Generated(const std::string& path)> load;
};

// ValueError if the spec is invalid or a name is taken.
void RegisterDeviceAPI(const DeviceBackendSpec& spec);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_DEVICE_BACKEND_H_
