// Targets that a device describes. The only place of the target language that asks a device anything.
#include <kernpack/error.h>

#include "target/device_facts.h"
#include "target/host.h"
#include "target/option.h"

namespace kernpack::sdk {

void AskDevice(const TargetKind& kind, int64_t device_id, const DeviceQuery& query, AttrMap* options) {
  if (!std::in_range<int32_t>(device_id)) KP_THROW(ValueError) << "from_device: " << device_id << " is no device id";
  if (!query) KP_THROW(RuntimeError) << "from_device: nobody here can ask devices; pass a DeviceQuery";
  const KpDLDevice device{kind.device_type(), static_cast<int32_t>(device_id)};
  for (const TargetOption& option : kind.options()) {
    if (option.traits.from_device.empty() || options->contains(option.name)) continue;
    AttrValue answer = query(device, option.traits.from_device);
    if (option.traits.convert && !answer.is_none()) answer = option.traits.convert(answer);
    if (!answer.is_none()) options->emplace(option.name, CheckOption(kind, option, answer, Nesting{}));
  }
}

Target Target::FromDevice(KpDLDevice device, const AttrMap& config, const DeviceQuery& query) {
  AttrMap whole = config;
  if (!config.contains("kind") && !config.contains("tag")) whole.emplace("kind", DeviceTypeName(device.device_type));
  whole.insert_or_assign("from_device", device.device_id);
  return BuildTarget(whole, Nesting{}, query);
}

}  // namespace kernpack::sdk
