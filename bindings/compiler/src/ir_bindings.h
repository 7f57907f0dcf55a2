// Code that the files that bind the IR share. They add to `_native.ir`.
#ifndef KERNPACK_PYTHON_COMPILER_IR_BINDINGS_H_
#define KERNPACK_PYTHON_COMPILER_IR_BINDINGS_H_

#include <kernpack/sdk/ir/stmt.h>

#include "bindings.h"

namespace kernpack::compiler {

namespace ir = sdk::ir;

// A function or module as Python holds it: immutable.
struct Function {
  ir::PrimFunc node;
};

void BindIrType(py::module_& module);
void BindIrExpr(py::module_& module);
void BindIrBuffer(py::module_& module);
void BindIrTrace(py::module_& module);
void BindIrModule(py::module_& module);
void BindIrInterpret(py::module_& module);
void BindIrPass(py::module_& module);
void BindIrSchedule(py::module_& module);

// A Type, or its name.
ir::Type ToType(py::handle value);
// An expression, or a number: of `like`'s element type where there is one, else bool, i64 or f32. TypeError for a float where
// an integer is needed and for anything else; OverflowError for an int that does not fit.
ir::Expr ToExpr(py::handle value, const ir::Type* like = nullptr);
// Of a number the constant that is it, without a type between.
ir::Expr CastTo(ir::Type type, py::handle value);
std::vector<ir::Expr> ToExprs(py::handle values);
// The operation of that name; ValueError when there is none.
ir::Op ToOp(const std::string& name);

// True if this thread is in a function that writes an IR function.
bool IsTracing();

// Adds a statement, positioned at the line of Python that asked for it, to the innermost open block of this thread.
// RuntimeError outside a function that is being traced.
void Record(const ir::Stmt& statement);

}  // namespace kernpack::compiler

#endif  // KERNPACK_PYTHON_COMPILER_IR_BINDINGS_H_
