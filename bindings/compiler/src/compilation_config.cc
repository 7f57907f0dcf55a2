// CompilationConfig.
#include <kernpack/sdk/compilation_config.h>

#include "bindings.h"

namespace kernpack::compiler {
namespace {

using sdk::CompilationConfig;
using sdk::Target;

CompilationConfig MakeCompilationConfig(const py::iterable& targets,
                                        const std::optional<std::string>& default_device_type) {
  std::vector<Target> list;
  for (py::handle target : targets) list.push_back(ToTarget(target));
  std::optional<int32_t> type;
  if (default_device_type) type = ToDeviceType(*default_device_type);
  return CompilationConfig(list, type);
}

}  // namespace

void BindCompilationConfig(py::module_& module) {
  py::class_<CompilationConfig>(
      module, "CompilationConfig",
      "The targets of one compilation: of the host, of each device, and the defaults for what is left open.")
      .def(py::init(&MakeCompilationConfig), py::arg("targets"), py::arg("default_device_type") = py::none())
      .def_property_readonly("host_target", &CompilationConfig::host_target)
      .def_property_readonly("host_virtual_device", &CompilationConfig::host_virtual_device)
      .def_property_readonly("primitive_targets", &CompilationConfig::primitive_targets)
      .def_property_readonly(
          "default_primitive_device_type",
          [](const CompilationConfig& config) { return DeviceTypeName(config.default_primitive_device_type()); })
      .def_property_readonly("default_primitive_virtual_device", &CompilationConfig::default_primitive_virtual_device)
      .def_property_readonly("optional_homogeneous_target", &CompilationConfig::optional_homogeneous_target)
      .def(
          "find_primitive_target",
          [](const CompilationConfig& config, const std::string& device_type) {
            return config.FindPrimitiveTargetForDeviceType(ToDeviceType(device_type));
          },
          py::arg("device_type"),
          "The first target for that device type; a ValueError that lists the targets if there is none.")
      .def("find_primitive_target_for_kind", &CompilationConfig::FindPrimitiveTargetForKind, py::arg("kind"))
      .def(
          "canonical_target",
          [](const CompilationConfig& config, py::handle target) { return config.CanonicalTarget(ToTarget(target)); },
          py::arg("target"))
      .def("canonical_virtual_device", &CompilationConfig::CanonicalVirtualDevice, py::arg("virtual_device"));
}

}  // namespace kernpack::compiler
