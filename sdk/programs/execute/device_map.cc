#include "execute/device_map.h"

#include <kernpack/error.h>

#include <algorithm>

#include "target/host.h"

namespace kernpack::sdk::program {
namespace {

void CheckExists(KpDLDevice device, const std::string& name, const std::string& user) {
  DeviceAPI* api = nullptr;
  try {
    api = DeviceAPI::Get(device.device_type);
  } catch (const Error& e) {
    KP_THROW(RuntimeError) << "the plan's " << name.c_str() << ", which " << user.c_str()
                           << " uses: there is no such device: " << e.what();
  }
  const int32_t count = api->DeviceCount(nullptr);
  if (device.device_id >= 0 && device.device_id < count) return;
  KP_THROW(RuntimeError) << "the plan's " << name.c_str() << ", which " << user.c_str() << " uses: there is no "
                         << GetName(device) << "; this machine has " << count << " of that type";
}

}  // namespace

std::string GetName(KpDLDevice device) {
  const std::string type = DeviceTypeName(device.device_type);
  return SameDevice(device, kHost) ? type : type + ":" + std::to_string(device.device_id);
}

KpDLDevice DeviceMap::Real(const VirtualDevice& device, const std::string& user) const {
  const int32_t type = device.device_type().value_or(KP_DEVICE_CPU);
  const int32_t id = device.virtual_device_id().value_or(0);
  const std::string name = DeviceTypeName(type) + ":" + std::to_string(id);
  std::vector<KpDLDevice> of_type;
  std::copy_if(given_.begin(), given_.end(), std::back_inserter(of_type),
               [&](KpDLDevice each) { return each.device_type == type; });
  const bool same_number = given_.empty() || (type == KP_DEVICE_CPU && of_type.empty());
  if (!same_number && static_cast<size_t>(id) >= of_type.size()) {
    KP_THROW(ValueError) << "the plan's " << name.c_str() << ", which " << user.c_str() << " uses: expected at least "
                         << id + 1 << " devices of type " << DeviceTypeName(type).c_str() << " in devices, got "
                         << of_type.size();
  }
  const KpDLDevice real = same_number ? KpDLDevice{type, id} : of_type[static_cast<size_t>(id)];
  CheckExists(real, name, user);
  return real;
}

}  // namespace kernpack::sdk::program
