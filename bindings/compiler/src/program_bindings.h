// Code that the files that bind programs share. They add to `_native.program`.
#ifndef KERNPACK_PYTHON_COMPILER_PROGRAM_BINDINGS_H_
#define KERNPACK_PYTHON_COMPILER_PROGRAM_BINDINGS_H_

#include <kernpack/sdk/program/function_table.h>
#include <kernpack/sdk/program/program.h>

#include "bindings.h"

namespace kernpack::compiler {

namespace program = sdk::program;

void BindProgramTable(py::module_& module);
void BindProgramBuilder(py::module_& module);
void BindProgramModule(py::module_& module);
void BindProgramPlan(py::module_& module);
void BindProgramExecute(py::module_& module);

// A tensor's type as Python gives it: the dtype's name, and extents that are numbers, names of symbols, or None. TypeError or
// ValueError for anything else.
program::Type TensorType(const std::string& dtype, const py::iterable& shape);
// (dtype, extents or None where the rank is not known); (None, None) unless it's a tensor.
py::tuple DescribeType(const program::Type& type);

}  // namespace kernpack::compiler

#endif  // KERNPACK_PYTHON_COMPILER_PROGRAM_BINDINGS_H_
