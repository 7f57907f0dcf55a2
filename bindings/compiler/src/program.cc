// `_native.program`: what kernpack_compiler.program is made of.
#include "program_bindings.h"

namespace kernpack::compiler {

void BindProgram(py::module_& module) {
  py::module_ program = module.def_submodule("program", "Programs: built, planned, run.");
  BindProgramTable(program);
  BindProgramBuilder(program);
  BindProgramModule(program);
  BindProgramPlan(program);
  BindProgramExecute(program);
}

}  // namespace kernpack::compiler
