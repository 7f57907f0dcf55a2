// Bindings of modules that launch kernels of other compilers.
#ifndef KERNPACK_PYTHON_COMPILER_IMPORTED_H_
#define KERNPACK_PYTHON_COMPILER_IMPORTED_H_

#include "bindings.h"

namespace kernpack::compiler {

void BindImported(py::module_& module);

}  // namespace kernpack::compiler

#endif  // KERNPACK_PYTHON_COMPILER_IMPORTED_H_
