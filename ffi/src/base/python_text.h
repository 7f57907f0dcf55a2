// None, bools, ints and floats as Python writes them.
#ifndef KERNPACK_SRC_BASE_PYTHON_TEXT_H_
#define KERNPACK_SRC_BASE_PYTHON_TEXT_H_

#include <optional>
#include <string>

#include <kernpack/abi.h>

namespace kernpack::host {

std::string PythonFloat(double value);                     // 2.0, 1e-05, nan
std::optional<std::string> PythonText(const KpAny& value);  // nothing for values of other types

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_PYTHON_TEXT_H_
