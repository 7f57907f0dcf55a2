// `_native.ir`: what kernpack_compiler.ir is made of.
#include "ir_bindings.h"

namespace kernpack::compiler {

void BindIr(py::module_& module) {
  py::module_ ir = module.def_submodule("ir", "The IR: types, expressions, buffers, functions, modules.");
  BindIrType(ir);
  BindIrExpr(ir);
  BindIrBuffer(ir);
  BindIrModule(ir);
  BindIrTrace(ir);
  BindIrInterpret(ir);
  BindIrPass(ir);
  BindIrSchedule(ir);
}

}  // namespace kernpack::compiler
