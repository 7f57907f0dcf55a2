// Target, TargetKind and tags.
#include <kernpack/sdk/target_tag.h>

#include "bindings.h"

namespace kernpack::compiler {
namespace {

using sdk::AttrMap;
using sdk::AttrValue;
using sdk::Target;
using sdk::TargetKind;
using sdk::TargetScope;
using sdk::TargetTag;

// Scopes that `with` opened in this thread.
std::vector<std::unique_ptr<TargetScope>>& Scopes() {
  static thread_local std::vector<std::unique_ptr<TargetScope>> scopes;
  return scopes;
}

Target MakeTarget(py::handle spec, py::handle host) {
  const Target target = ToTarget(spec);
  return host.is_none() ? target : target.WithHost(ToTarget(host));
}

Target FromDevice(py::handle device, py::handle config, py::handle query) {
  const AttrMap given =
      config.is_none() ? AttrMap() : *FromPython(py::dict(py::reinterpret_borrow<py::object>(config))).If<AttrMap>();
  if (query.is_none()) return Target::FromDevice(ToDevice(device), given);
  return Target::FromDevice(ToDevice(device), given, [&](KpDLDevice, std::string_view name) -> AttrValue {
    return FromPython(query(py::str(name.data(), name.size())));
  });
}

py::list Options(const TargetKind& kind) {
  py::list out;
  for (const sdk::TargetOption& option : kind.options()) {
    py::dict one;
    one["name"] = option.name;
    one["type"] = option.type.Name();
    one["default"] = ToPython(option.traits.default_value);
    one["doc"] = option.traits.doc;
    out.append(one);
  }
  return out;
}

void BindKind(py::module_& module) {
  py::class_<TargetKind, std::unique_ptr<TargetKind, py::nodelete>>(
      module, "TargetKind", "The target of generated code: the device that runs it, and its options.")
      .def_static(
          "get", [](const std::string& name) { return &TargetKind::Get(name); }, py::arg("name"),
          py::return_value_policy::reference,
          "The kind of that name; a ValueError with a similar name if there is none.")
      .def_static("list", &TargetKind::List, "Names of all kinds, sorted.")
      .def_property_readonly("name", &TargetKind::name)
      .def_property_readonly("device_type", [](const TargetKind& kind) { return DeviceTypeName(kind.device_type()); })
      .def_property_readonly("default_keys", &TargetKind::default_keys)
      .def_property_readonly("options", Options, "Dicts of name, type, default and doc, in the order of declaration.")
      .def(
          "__eq__", [](const TargetKind& a, const TargetKind& b) { return &a == &b; }, py::is_operator())
      .def("__hash__", [](const TargetKind& kind) { return std::hash<std::string>()(kind.name()); })
      .def("__str__", &TargetKind::name)
      .def("__repr__", [](const TargetKind& kind) { return "TargetKind('" + kind.name() + "')"; });
}

void BindTags(py::module_& module) {
  module.def("list_tags", &TargetTag::List, "Names of real devices that Target takes, sorted.");
  module.def("tag_definition", &TargetTag::Get, py::arg("tag"), "The definition of a tag; None for an unknown tag.");
  module.def(
      "add_tag",
      [](std::string tag, py::handle definition, bool replace) {
        if (py::isinstance<py::str>(definition)) {
          TargetTag::Add(std::move(tag), definition.cast<std::string>(), replace);
        } else {
          TargetTag::Add(std::move(tag), ToTarget(definition).ToConfig(), replace);
        }
      },
      py::arg("tag"), py::arg("definition"), py::arg("replace") = false,
      "Registers a tag. ValueError if it is registered already, unless `replace`.");
}

}  // namespace

void BindTarget(py::module_& module) {
  BindKind(module);
  py::class_<Target>(module, "Target", R"(What code is compiled for: a kind and its options, in canonical form.

Takes a kind's name ("cuda"), a tag ("nvidia/h100"), the command-line form ("cuda -arch=sm_90"), JSON, or a dict. Making one
touches no device. Equal when the canonical forms are; Target(str(t)) == t.)")
      .def(py::init(&MakeTarget), py::arg("spec"), py::arg("host") = py::none())
      .def_static("from_device", FromDevice, py::arg("device"), py::arg("config") = py::none(),
                  py::arg("query") = py::none(),
                  "The target of a device (\"cuda:0\"): attributes come from config, else from the device, "
                  "else from the defaults. `query(name)` replaces the device.")
      .def_static(
          "current",
          [](bool allow_none) -> std::optional<Target> {
            return allow_none ? Target::CurrentOrNone() : Target::Current();
          },
          py::arg("allow_none") = false, "The innermost `with target:` of this thread.")
      .def_property_readonly(
          "kind", [](const Target& t) { return &t.kind(); }, py::return_value_policy::reference)
      .def_property_readonly("device_type", [](const Target& t) { return DeviceTypeName(t.device_type()); })
      .def_property_readonly("tag", &Target::tag, "The tag it came from, or \"\".")
      .def_property_readonly("keys", &Target::keys)
      .def_property_readonly("host", &Target::host)
      .def_property_readonly(
          "attrs", [](const Target& t) { return ToPython(t.attrs()); }, "A dict of all attributes.")
      .def_property_readonly(
          "features", [](const Target& t) { return ToPython(t.features()); }, "A dict of all features.")
      .def("has_feature", &Target::HasFeature, py::arg("name"))
      .def(
          "with_host", [](const Target& t, py::handle host) { return t.WithHost(ToTarget(host)); }, py::arg("host"))
      .def("without_host", &Target::WithoutHost)
      .def("to_json", &Target::ToJson, "One line; Target(t.to_json()) == t.")
      .def("to_dict", [](const Target& t) { return ToPython(t.ToConfig()); })
      .def("full_text", &Target::FullText,
           "Every attribute, key, feature given and the host, defaults included; Target(t.full_text()) == t.")
      .def(
          "__eq__", [](const Target& a, const Target& b) { return a == b; }, py::is_operator())
      .def("__hash__", &Target::Hash)
      .def("__str__", &Target::str)
      .def("__repr__", [](const Target& t) { return "Target(" + py::repr(py::str(t.str())).cast<std::string>() + ")"; })
      .def("__enter__",
           [](const Target& t) {
             Scopes().push_back(std::make_unique<TargetScope>(t));
             return t;
           })
      .def("__exit__",
           [](const Target& t, const py::args&) {
             if (Scopes().empty())
               KP_THROW(RuntimeError) << "Target: " << t.str() << " exits a `with` that was never entered";
             Scopes().pop_back();
           })
      .def(
          py::pickle([](const Target& t) { return t.ToJson(); }, [](const std::string& json) { return Target(json); }));
  BindTags(module);
}

}  // namespace kernpack::compiler
