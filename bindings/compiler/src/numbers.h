// Python's integers, which have no bounds.
#ifndef KERNPACK_PYTHON_COMPILER_NUMBERS_H_
#define KERNPACK_PYTHON_COMPILER_NUMBERS_H_

#include <pybind11/pybind11.h>

#include <cstdint>

namespace kernpack::compiler {

// OverflowError "<number> does not fit 64 bits"; TypeError for what isn't an integer.
int64_t ToInt64(pybind11::handle number);

}  // namespace kernpack::compiler

#endif  // KERNPACK_PYTHON_COMPILER_NUMBERS_H_
