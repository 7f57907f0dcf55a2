// What imported.cc adds to the module.
#ifndef KERNPACK_PYTHON_COMPILER_IMPORTED_H_
#define KERNPACK_PYTHON_COMPILER_IMPORTED_H_

#include "bindings.h"

namespace kernpack::compiler {

void BindImported(py::module_& module);

}  // namespace kernpack::compiler

#endif  // KERNPACK_PYTHON_COMPILER_IMPORTED_H_
