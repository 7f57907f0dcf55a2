// From an IRModule to code, through the generators of the host's registry.
#include <kernpack/error.h>
#include <kernpack/sdk/codegen/generator.h>
#include <kernpack/sdk/target_kind.h>

#include "ir_bindings.h"

namespace kernpack::compiler {
namespace {

using ir::IRModule;
using sdk::Target;

std::optional<Target> TargetOrNone(py::handle target) {
  return target.is_none() ? std::nullopt : std::optional<Target>(ToTarget(target));
}

// The address of a module table, or the path of a shared object.
py::object BuildModule(const IRModule& module, py::handle target, bool checked) {
  const std::optional<Target> chosen = TargetOrNone(target);
  sdk::Generated made;
  {
    const py::gil_scoped_release unlocked;  // compilers take their time
    made = sdk::Build(module, chosen, {.checked = checked});
  }
  if (made.table) return py::int_(reinterpret_cast<uintptr_t>(made.table));
  return py::str(made.library);
}

void ExportModule(const IRModule& module, py::handle target, const std::string& path, bool checked) {
  const std::optional<Target> chosen = TargetOrNone(target);
  const py::gil_scoped_release unlocked;
  sdk::Export(module, chosen, path, {.checked = checked});
}

std::string GenerateSource(const IRModule& module, py::handle target, bool checked) {
  const std::optional<Target> chosen = TargetOrNone(target);
  const py::gil_scoped_release unlocked;
  return sdk::Source(module, chosen, {.checked = checked});
}

void AddOption(sdk::TargetKindBuilder& kind, const std::string& name, py::handle value) {
  if (py::isinstance<py::bool_>(value)) {
    kind.add_attr_option<bool>(name, {.default_value = value.cast<bool>()});
  } else if (py::isinstance<py::int_>(value)) {
    kind.add_attr_option<int64_t>(name, {.default_value = value.cast<int64_t>()});
  } else if (py::isinstance<py::float_>(value)) {
    kind.add_attr_option<double>(name, {.default_value = value.cast<double>()});
  } else if (py::isinstance<py::str>(value)) {
    kind.add_attr_option<std::string>(name, {.default_value = value.cast<std::string>()});
  } else {
    KP_THROW(TypeError) << "add_target_kind: " << name << ": expected a default of type bool, int, float or str, got "
                        << py::type::of(value).attr("__name__").cast<std::string>();
  }
}

void AddTargetKind(const std::string& name, const std::string& device, const py::dict& options) {
  sdk::TargetKindBuilder kind(name, device.c_str());
  kind.set_default_keys({name});
  for (auto [option, value] : options) AddOption(kind, option.cast<std::string>(), value);
  kind.Register();
}

}  // namespace

void BindBuild(py::module_& module) {
  module.def("build", &BuildModule, py::arg("module"), py::arg("target") = py::none(), py::arg("checked") = false);
  module.def("export_library", &ExportModule, py::arg("module"), py::arg("target"), py::arg("path"),
             py::arg("checked") = false);
  module.def("source", &GenerateSource, py::arg("module"), py::arg("target") = py::none(), py::arg("checked") = false,
             "The code that the generator of the target's kind writes, for a person to read.");
  module.def("list_generators", &sdk::ListGenerators, "Target kinds that code can be built for, sorted.");
  module.def("add_target_kind", &AddTargetKind, py::arg("name"), py::arg("device"), py::arg("options") = py::dict(),
             R"(Registers a target kind, for which code can then be generated.

device: the name of a device type, of a backend or built in. options: the default of each option, which also sets its type.)");
}

}  // namespace kernpack::compiler
