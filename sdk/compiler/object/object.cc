#include <kernpack/sdk/ir/text.h>
#include <kernpack/sdk/object.h>

#include "object/text_object.h"
#include "target/host.h"
#include "target/json.h"

namespace kernpack::sdk {
namespace {

std::string ToJson(const VirtualDevice& value) {
  AttrMap parts;
  if (value.device_type()) parts.emplace("device_type", DeviceTypeName(*value.device_type()));
  if (value.virtual_device_id()) parts.emplace("virtual_device_id", *value.virtual_device_id());
  if (value.target()) parts.emplace("target", value.target()->str());
  if (value.memory_scope()) parts.emplace("memory_scope", *value.memory_scope());
  return MapToJson(parts);
}

// TypeError when the part is there and no T.
template <class T>
std::optional<T> Part(const AttrMap& parts, const char* name, const char* what) {
  const auto found = parts.find(name);
  if (found == parts.end()) return std::nullopt;
  std::optional<T> part = found->second.As<T>();
  if (!part) {
    KP_THROW(TypeError) << what << ": " << name << ": expected " << OptionTypeOf<T>().Name().c_str() << ", got "
                        << found->second.type_name();
  }
  return part;
}

VirtualDevice FromJson(std::string_view text, const char* what) {
  const AttrMap parts = MapFromJson(text, what);
  VirtualDeviceFields fields;
  if (const auto type = Part<std::string>(parts, "device_type", what)) fields.device_type = DeviceTypeFromName(*type);
  fields.virtual_device_id = Part<int32_t>(parts, "virtual_device_id", what);
  if (const auto target = Part<std::string>(parts, "target", what)) fields.target = Target(*target);
  fields.memory_scope = Part<std::string>(parts, "memory_scope", what);
  return VirtualDevice(std::move(fields));
}

}  // namespace

Any ToAny(const Target& value) { return NewTextObject(kTargetKey, value.str()); }
Any ToAny(const VirtualDevice& value) { return NewTextObject(kVirtualDeviceKey, ToJson(value)); }
Any ToAny(const ir::PrimFunc& value) { return NewTextObject(kPrimFuncKey, ir::Print(*value)); }
Any ToAny(const ir::IRModule& value) { return NewTextObject(kIRModuleKey, ir::Print(value)); }

Target ToTarget(AnyView value, const char* what) { return Target(GetText(value, kTargetKey, what)); }

VirtualDevice ToVirtualDevice(AnyView value, const char* what) {
  return FromJson(GetText(value, kVirtualDeviceKey, what), what);
}

ir::PrimFunc ToPrimFunc(AnyView value, const char* what) {
  ir::IRModule module = ir::Parse(GetText(value, kPrimFuncKey, what));
  if (module.functions.size() != 1) {
    KP_THROW(ValueError) << what << ": expected the text of one function, got " << module.functions.size();
  }
  return std::move(module.functions.front());
}

ir::IRModule ToIRModule(AnyView value, const char* what) { return ir::Parse(GetText(value, kIRModuleKey, what)); }

}  // namespace kernpack::sdk
