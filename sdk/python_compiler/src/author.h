// Where in Python somebody writes what this extension records.
#ifndef KERNPACK_PYTHON_COMPILER_AUTHOR_H_
#define KERNPACK_PYTHON_COMPILER_AUTHOR_H_

#include <kernpack/sdk/ir/expr.h>

namespace kernpack::compiler {

// Line and column of the innermost Python frame outside this package; zeros when there is none.
sdk::ir::Position AuthorPosition();

}  // namespace kernpack::compiler

#endif  // KERNPACK_PYTHON_COMPILER_AUTHOR_H_
