// Target, VirtualDevice, PrimFunc and IRModule as values of the ABI: what packed functions take and give.
//
// Each is an object of a type that the host registers by the key below, and its body is that of a KpStrObject: the value's
// text. So C code of any binary reads one without this SDK:
//
//   int32_t index;
//   host->type_index(host, kp_bytes("kernpack.ir.IRModule"), &index);
//   if (args[0].type_index == index) text = ((const KpStrObject*)args[0].v.v_obj)->bytes;
//
// The text is Target::str(), Print(function), Print(module), and of a VirtualDevice a JSON object of the parts that are
// not open. It is never changed; the object is released as any other.
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

// The value of such an object, whichever binary made it, or of a str of the same text. TypeError for anything else, naming
// `what`; what reading the text throws.
Target ToTarget(AnyView value, const char* what);
VirtualDevice ToVirtualDevice(AnyView value, const char* what);
ir::PrimFunc ToPrimFunc(AnyView value, const char* what);
ir::IRModule ToIRModule(AnyView value, const char* what);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_OBJECT_H_
