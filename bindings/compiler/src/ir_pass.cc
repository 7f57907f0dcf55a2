// Passes: IRModule to IRModule, one by one or all that generators run.
#include <kernpack/error.h>
#include <kernpack/sdk/ir/pass.h>
#include <kernpack/sdk/ir/verify.h>

#include "ir_bindings.h"

namespace kernpack::compiler {
namespace {

using ir::IRModule;
using ir::Pass;

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const Pass& pass : ir::LoweringPasses()) names.emplace_back(pass.name);
  return names;
}

IRModule RunPass(const IRModule& module, const std::string& name) {
  for (const Pass& pass : ir::LoweringPasses()) {
    if (name == pass.name) return pass.run(module);
  }
  std::string known;
  for (const std::string& one : PassNames()) known += (known.empty() ? "" : ", ") + one;
  KP_THROW(ValueError) << "run_pass: no pass is named '" << name << "'; there are " << known;
}

IRModule LowerAll(const IRModule& module, const py::object& observe, bool checked) {
  ir::PassObserver observer;
  if (!observe.is_none()) observer = [&](const Pass& pass, const IRModule& after) { observe(pass.name, after); };
  if (!checked) return ir::Lower(module, observer);
  ir::Verify(module);
  const ir::LabelledModule labelled = ir::LabelAccesses(module);
  return ir::CheckAccesses(ir::Lower(labelled.module, observer), labelled.labels);
}

}  // namespace

void BindIrPass(py::module_& module) {
  module.def("pass_names", &PassNames, "Names of the passes that lower() runs, in order.");
  module.def("run_pass", &RunPass, py::arg("module"), py::arg("name"),
             "The module after one pass. ValueError for a name that pass_names() does not have.");
  module.def(
      "lower", &LowerAll, py::arg("module"), py::arg("observe") = py::none(), py::arg("checked") = false,
      R"(What generators are given: verified, then through every pass; checked: with the checks of a checked build.

observe(name, module) sees the module after each: lower(m, lambda name, after: print(name, after, sep="\n")).)");
}

}  // namespace kernpack::compiler
