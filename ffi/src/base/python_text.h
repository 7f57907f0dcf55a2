// Values as people read them: None, bools, ints and floats as Python writes them, and versions of an ABI.
#ifndef KERNPACK_SRC_BASE_PYTHON_TEXT_H_
#define KERNPACK_SRC_BASE_PYTHON_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include <kernpack/abi.h>

namespace kernpack::host {

std::string PythonFloat(double value);                     // 2.0, 1e-05, nan
std::optional<std::string> PythonText(const KpAny& value);  // nothing for values of other types

// A version of an ABI as people write it: "1.0" for major << 16 | minor.
inline std::string VersionText(uint32_t version) {
  return std::to_string(version >> 16) + "." + std::to_string(version & 0xffff);
}

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_PYTHON_TEXT_H_
