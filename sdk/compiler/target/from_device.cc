// Targets that a device describes. The only place of the target language that asks a device anything.
#include <kernpack/error.h>
#include "shared/target_kinds.h"

#include "target/construct.h"
#include "target/host.h"
#include "target/option.h"

namespace kernpack::sdk {

namespace {

AttrValue AskHost(KpDLDevice device, std::string_view name) {
  HostValue answer;
  Check(TargetApi().device_fact(device, host::Bytes(name), answer.out()));
  const KpAny& value = answer.get();
  if (value.type_index == KP_TYPE_NONE) return {};
  if (value.type_index == KP_TYPE_BOOL) return value.v.v_int != 0;
  if (value.type_index == KP_TYPE_INT) return value.v.v_int;
  if (value.type_index == KP_TYPE_FLOAT) return value.v.v_float;
  return answer.str();
}

}  // namespace

void AskDevice(const TargetKind& kind, int64_t device_id, const DeviceQuery& query, AttrMap* options) {
  if (!std::in_range<int32_t>(device_id)) KP_THROW(ValueError) << "from_device: " << device_id << " isn't a device id";
  const KpDLDevice device{kind.device_type(), static_cast<int32_t>(device_id)};
  const DeviceQuery ask = query ? query : DeviceQuery(AskHost);
  if (ask(device, "exist") != AttrValue(true)) {
    KP_THROW(RuntimeError) << "from_device: there is no device " << DeviceTypeName(device.device_type) << ':'
                           << device.device_id << "; kernpack.info() tells which there are and why others are not";
  }
  for (const TargetOption& option : kind.options()) {
    if (option.traits.from_device.empty() || options->contains(option.name)) continue;
    AttrValue answer = ask(device, option.traits.from_device);
    if (option.traits.convert && !answer.is_none()) answer = option.traits.convert(answer);
    if (!answer.is_none()) options->emplace(option.name, CheckOption(kind, option, answer, Nesting{}));
  }
}

Target Target::FromDevice(KpDLDevice device, const AttrMap& config, const DeviceQuery& query) {
  AttrMap whole = config;
  if (!config.contains("kind") && !config.contains("tag")) {
    const bool cpu = device.device_type == KP_DEVICE_CPU;
    whole.emplace("kind", cpu ? host::kLlvmKind : DeviceTypeName(device.device_type));
  }
  whole.insert_or_assign("from_device", device.device_id);
  Target target = BuildTarget(whole, Nesting{}, query);
  if (target.kind().device_type() != device.device_type) {
    KP_THROW(ValueError) << "Target.from_device: kind '" << target.kind().name() << "' is not for devices of type "
                         << DeviceTypeName(device.device_type);
  }
  return target;
}

}  // namespace kernpack::sdk
