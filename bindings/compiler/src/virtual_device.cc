// VirtualDevice.
#include <kernpack/sdk/virtual_device.h>

#include "bindings.h"

namespace kernpack::compiler {
namespace {

using sdk::VirtualDevice;

VirtualDevice MakeVirtualDevice(const std::optional<std::string>& device_type, std::optional<int32_t> virtual_device_id,
                                py::handle target, std::optional<std::string> memory_scope) {
  sdk::VirtualDeviceFields fields;
  if (device_type) fields.device_type = ToDeviceType(*device_type);
  fields.virtual_device_id = virtual_device_id;
  if (!target.is_none()) fields.target = ToTarget(target);
  fields.memory_scope = std::move(memory_scope);
  return VirtualDevice(std::move(fields));
}

std::optional<std::string> DeviceType(const VirtualDevice& value) {
  if (!value.device_type()) return std::nullopt;
  return DeviceTypeName(*value.device_type());
}

}  // namespace

void BindVirtualDevice(py::module_& module) {
  py::class_<VirtualDevice>(module, "VirtualDevice",
                            R"(Constraints on where data is or code runs: device_type ("cuda"), virtual_device_id,
target, memory_scope; each a value or None, which leaves it open. With a target, the device type is the target's.)")
      .def(py::init(&MakeVirtualDevice), py::arg("device_type") = py::none(), py::arg("virtual_device_id") = py::none(),
           py::arg("target") = py::none(), py::arg("memory_scope") = py::none())
      .def_property_readonly("device_type", DeviceType)
      .def_property_readonly("virtual_device_id", &VirtualDevice::virtual_device_id)
      .def_property_readonly("target", &VirtualDevice::target)
      .def_property_readonly("memory_scope", &VirtualDevice::memory_scope)
      .def_property_readonly("is_fully_unconstrained", &VirtualDevice::IsFullyUnconstrained)
      .def_property_readonly("is_fully_constrained", &VirtualDevice::IsFullyConstrained)
      .def(
          "to_device",
          [](const VirtualDevice& value) {
            const KpDLDevice device = value.ToDevice();
            return py::module_::import("kernpack").attr("device")(DeviceTypeName(device.device_type), device.device_id);
          },
          "kernpack.device(type, id); ValueError if one is open.")
      .def_static("join", &VirtualDevice::Join, py::arg("a"), py::arg("b"),
                  "The value that agrees with both, part by part; None if both constrain a part differently.")
      .def_static("default", &VirtualDevice::Default, py::arg("a"), py::arg("b"), "a, with b's values where a is open.")
      .def(
          "__eq__", [](const VirtualDevice& a, const VirtualDevice& b) { return a == b; }, py::is_operator())
      .def("__hash__", &VirtualDevice::Hash)
      .def("__repr__", &VirtualDevice::str)
      .def("__reduce__", [](py::object self) {
        return py::make_tuple(py::type::of(self),
                              py::make_tuple(self.attr("device_type"), self.attr("virtual_device_id"),
                                             self.attr("target"), self.attr("memory_scope")));
      });
}

}  // namespace kernpack::compiler
