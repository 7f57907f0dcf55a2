// Target, VirtualDevice, PrimFunc and IRModule as values of the ABI, for packed functions.
//
// Each is an object whose type is registered in the host by the key below. Its body is a KpStrObject with the value's
// text, so that C code reads it without this SDK:
//
//   int32_t index;
//   host->type_index(host, kp_bytes("kernpack.ir.IRModule"), &index);
//   if (args[0].type_index == index) text = ((const KpStrObject*)args[0].v.v_obj)->bytes;
//
// The text is Target::str(), Print(function), Print(module), or for a VirtualDevice a JSON object of its constrained
// parts. It never changes; the object is released like any other.
#ifndef KERNPACK_SDK_OBJECT_H_
#define KERNPACK_SDK_OBJECT_H_

#include <kernpack/any.h>
#include <kernpack/sdk/ir/stmt.h>
#include <kernpack/sdk/virtual_device.h>

namespace kernpack::sdk {

inline constexpr const char kTargetKey[] = "kernpack.Target";
inline constexpr const char kVirtualDeviceKey[] = "kernpack.VirtualDevice";
inline constexpr const char kPrimFuncKey[] = "kernpack.ir.PrimFunc";
inline constexpr const char kIRModuleKey[] = "kernpack.ir.IRModule";

Any ToAny(const Target& value);
Any ToAny(const VirtualDevice& value);
Any ToAny(const ir::PrimFunc& value);
Any ToAny(const ir::IRModule& value);

// The value of such an object, made by any binary, or of a str of the same text. TypeError with `what` for anything else;
// the errors of parsing the text.
Target ToTarget(AnyView value, const char* what);
VirtualDevice ToVirtualDevice(AnyView value, const char* what);
ir::PrimFunc ToPrimFunc(AnyView value, const char* what);
ir::IRModule ToIRModule(AnyView value, const char* what);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_OBJECT_H_
