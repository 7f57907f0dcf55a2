// Which code runs where.
#include <kernpack/sdk/target_match.h>

#include "bindings.h"
#include "target/known_cpus.h"

namespace kernpack::compiler {
namespace {

py::list MakeList(const std::vector<std::string_view>& names) {
  py::list list;
  for (std::string_view name : names) list.append(name);
  return list;
}

}  // namespace

void BindMatch(py::module_& module) {
  using sdk::BestMatch;
  using sdk::Target;
  using sdk::TargetMatch;
  py::class_<TargetMatch>(module, "TargetMatch", "Whether code runs on a machine, how specific it is, and why.")
      .def_readonly("rank", &TargetMatch::rank, "Below 0: it does not run there; else higher is more specific.")
      .def_readonly("reason", &TargetMatch::reason)
      .def("__bool__", [](const TargetMatch& match) { return static_cast<bool>(match); })
      .def("__repr__", [](const TargetMatch& match) {
        return "TargetMatch(rank=" + std::to_string(match.rank) +
               ", reason=" + py::repr(py::str(match.reason)).cast<std::string>() + ")";
      });
  py::class_<BestMatch>(module, "BestMatch", "What pick_best found.")
      .def_readonly("index", &BestMatch::index, "Of the variant chosen; None when none runs.")
      .def_readonly("matches", &BestMatch::matches, "One TargetMatch per variant.")
      .def("explain", &BestMatch::Explain, "One line per variant; the chosen one has a star.");
  module.def(
      "match", [](py::handle code, py::handle machine) { return sdk::Matches(ToTarget(code), ToTarget(machine)); },
      py::arg("code"), py::arg("machine"),
      "Whether code built for one target runs on what the other describes, and why.");
  module.def(
      "supports", [](py::handle code, py::handle machine) { return sdk::Supports(ToTarget(code), ToTarget(machine)); },
      py::arg("code"), py::arg("machine"), "Whether code built for `code` runs on what `machine` describes.");
  module.def(
      "pick_best",
      [](const py::iterable& variants, py::handle machine) {
        std::vector<Target> targets;
        for (py::handle variant : variants) targets.push_back(ToTarget(variant));
        return sdk::PickBest(targets, ToTarget(machine));
      },
      py::arg("variants"), py::arg("machine"), "The most specific variant that runs on the machine.");
  module.def(
      "cpu_models", [](const std::string& arch) { return MakeList(sdk::CpuModels(arch)); }, py::arg("arch"),
      "Processors that targets of an architecture (x86_64, aarch64, arm, riscv64) can name.");
  module.def(
      "cpu_features", [](const std::string& arch) { return MakeList(sdk::CpuFeatureNames(arch)); }, py::arg("arch"),
      "Processor features that targets of an architecture can name.");
}

}  // namespace kernpack::compiler
