// Registering a DeviceAPI of one's own, for C, C++ and Python alike.
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
  int32_t device_type = 0;  // DLPack's where it has one of that name; 0: the host allots one
  const char* const* target_kinds = nullptr;  // NULL-terminated; static
  // Makes the API when its first device is asked for; it lives for ever. NULL with *why set where there is no driver; a throw is
  // an error.
  DeviceAPI* (*open)(int32_t device_type, std::string* why) = nullptr;
  // The generator of target_kinds[0], where there is one: RegisterGenerator(). It touches no device.
  std::optional<Generator> generator;
  // May be empty. The global function "module.load.<target_kinds[0]>": the path of code that was built for this kind, to a module
  // that runs in this process.
  std::function<Generated(const std::string& path)> load;
};

// ValueError: what is wrong with the spec, or a name is taken.
void RegisterDeviceAPI(const DeviceBackendSpec& spec);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_DEVICE_BACKEND_H_
