// SDK values as objects of the host, both ways: what packed functions take and give.
#include <kernpack/sdk/object.h>
#include <kernpack/string.h>

#include "ir_bindings.h"

namespace kernpack::compiler {
namespace {

const char kCapsule[] = "kernpack.object";

// `holder` has a __kernpack_object__, as kernpack.Object does; the value is borrowed from the capsule.
AnyView FromCapsule(const py::capsule& capsule) {
  KpObject* object = capsule.get_pointer<KpObject>();
  KpAny value = kp_none();
  value.type_index = object->type_index;
  value.v.v_obj = object;
  return value;
}

// Objects of type `key` reach Python as what `read` makes of them.
template <class Read>
void ReadAs(const char* key, Read read) {
  const py::object make = py::cpp_function([read](const py::object& holder) {
    const py::capsule capsule = holder.attr("__kernpack_object__")();
    return py::cast(read(FromCapsule(capsule)));
  });
  py::module_::import("kernpack._core").attr("object_class")(key, make);
}

// Adds __kernpack_object__ to a bound class.
template <class Class, class Make>
void WriteAs(Make make) {
  const py::object type = py::type::of<Class>();
  type.attr("__kernpack_object__") = py::cpp_function([make](const Class& self) { return ToCapsule(make(self)); },
                                                      py::is_method(type), py::name("__kernpack_object__"));
}

}  // namespace

py::capsule ToCapsule(Any value) {
  return py::capsule(value.release().v.v_obj, kCapsule,
                     [](void* object) { kp_release(static_cast<KpObject*>(object)); });
}

Any UnwrapObject(py::handle holder) {
  const py::capsule capsule = holder.attr("__kernpack_object__")();
  return Any(FromCapsule(capsule));
}

void BindObjects() {
  WriteAs<sdk::Target>([](const sdk::Target& value) { return sdk::ToAny(value); });
  WriteAs<sdk::VirtualDevice>([](const sdk::VirtualDevice& value) { return sdk::ToAny(value); });
  WriteAs<Function>([](const Function& value) { return sdk::ToAny(value.node); });
  WriteAs<ir::IRModule>([](const ir::IRModule& value) { return sdk::ToAny(value); });
  ReadAs(sdk::kTargetKey, [](AnyView value) { return sdk::ToTarget(value, "target"); });
  ReadAs(sdk::kVirtualDeviceKey, [](AnyView value) { return sdk::ToVirtualDevice(value, "virtual device"); });
  ReadAs(sdk::kPrimFuncKey, [](AnyView value) { return Function{sdk::ToPrimFunc(value, "function")}; });
  ReadAs(sdk::kIRModuleKey, [](AnyView value) { return sdk::ToIRModule(value, "module"); });
}

}  // namespace kernpack::compiler
