// Running plans. A run reaches Python as a function of the host, so that arguments and results are converted as a kernel's are.
#include <kernpack/array.h>
#include <kernpack/error.h>
#include <kernpack/sdk/program/as_module.h>
#include <kernpack/sdk/program/execute.h>
#include <kernpack/sdk/program/trace.h>

#include "codegen/packed.h"
#include "program_bindings.h"

namespace kernpack::compiler {
namespace {

using program::Executable;
using program::FunctionTable;
using program::Plan;
using program::RunOptions;
using program::Trace;

std::shared_ptr<Executable> MakeExecutable(const Plan& plan, const FunctionTable& functions,
                                           const py::iterable& devices) {
  std::vector<KpDLDevice> real;
  for (py::handle device : devices) real.push_back(ToDevice(device));
  return std::make_shared<Executable>(plan, functions, real);
}

// Takes the parameters and gives an array of the results. `trace`: nullable.
py::capsule FunctionOf(const std::shared_ptr<Executable>& executable, const std::shared_ptr<Trace>& trace) {
  const auto count = executable->program().params.size();
  return ToCapsule(sdk::MakePacked(executable->program().name, static_cast<int32_t>(count),
                                   [executable, trace, count](const KpAny* args) {
                                     RunOptions options;
                                     options.trace = trace.get();
                                     const std::vector<Any> results = executable->Run({args, args + count}, options);
                                     return Any(Array(results.data(), results.size()));
                                   }));
}

// The address of a module's table whose one function is the program.
uintptr_t AsModule(const std::shared_ptr<Executable>& executable, const std::string& name) {
  return reinterpret_cast<uintptr_t>(program::AsModule(name, {executable}));
}

// (held, peak): bytes of the plan's buffers.
py::tuple ExecutableBuffers(const Executable& executable) {
  const program::BufferUse use = executable.buffers();
  return py::make_tuple(use.held, use.peak);
}

}  // namespace

void BindProgramExecute(py::module_& module) {
  py::class_<Trace, std::shared_ptr<Trace>>(module, "Trace")
      .def(py::init<>())
      .def("json", &Trace::Json)
      .def("write", &Trace::Write, py::arg("path"));
  py::class_<Executable, std::shared_ptr<Executable>>(module, "Executable")
      .def(py::init(&MakeExecutable), py::arg("plan"), py::arg("functions"), py::arg("devices"))
      .def("function", &FunctionOf, py::arg("trace").none(true))
      .def("as_module", &AsModule, py::arg("name"))
      .def("export_library", &Executable::Export, py::arg("module"), py::arg("version"), py::arg("path"),
           py::call_guard<py::gil_scoped_release>())  // a compiler takes its time
      .def_property_readonly("buffers", &ExecutableBuffers);
}

}  // namespace kernpack::compiler
