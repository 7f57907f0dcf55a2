// Programs and modules of them: text, equality, what they are made of.
#include <kernpack/error.h>
#include <kernpack/sdk/program/text.h>
#include <kernpack/sdk/program/verify.h>

#include "program_bindings.h"

namespace kernpack::compiler {
namespace {

using program::Program;
using program::ProgramModule;
using program::Step;
using program::StepKind;
using program::ValueId;

// (name, dtype, extents) a parameter.
py::list ProgramParams(const Program& p) {
  py::list all;
  for (const ValueId id : p.params) {
    const program::Value& value = p.values[id];
    all.append(py::make_tuple(value.name) + DescribeType(value.type));
  }
  return all;
}

// (dtype, extents) a result.
py::list Results(const Program& p) {
  py::list all;
  for (const program::Result& result : p.results) all.append(DescribeType(p.values[result.value].type));
  return all;
}

ProgramModule MakeProgramModule(const std::vector<Program>& programs) {
  ProgramModule module;
  for (const Program& p : programs) {
    if (module.Find(p.name)) KP_THROW(ValueError) << "ProgramModule: two programs are named '" << p.name << "'";
    module.programs.push_back(p);
  }
  return module;
}

// The function of each call, in order.
std::vector<std::string> Callees(const ProgramModule& module) {
  std::vector<std::string> all;
  for (const Program& p : module.programs) {
    for (const Step& step : p.steps) {
      if (step.kind == StepKind::kCall) all.push_back(step.callee);
    }
  }
  return all;
}

}  // namespace

void BindProgramModule(py::module_& module) {
  py::class_<Program>(module, "Program")
      .def_readonly("name", &Program::name)
      .def_property_readonly("params", &ProgramParams)
      .def_property_readonly("results", &Results)
      .def(
          "__eq__", [](const Program& a, const Program& b) { return Equal(a, b); }, py::is_operator())
      .def("__str__", [](const Program& p) { return Print(p); });
  py::class_<ProgramModule>(module, "ProgramModule")
      .def(py::init(&MakeProgramModule), py::arg("programs"))
      .def_static("parse", &program::Parse, py::arg("text"))
      .def_readonly("programs", &ProgramModule::programs)
      .def("callees", &Callees)
      .def("verify", &program::Verify, py::arg("functions"))
      .def(
          "__eq__", [](const ProgramModule& a, const ProgramModule& b) { return Equal(a, b); }, py::is_operator())
      .def("__str__", [](const ProgramModule& m) { return Print(m); });
}

}  // namespace kernpack::compiler
