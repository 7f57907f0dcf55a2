// A version of an ABI as people write it: "1.0" for major << 16 | minor.
#ifndef KERNPACK_SRC_BASE_VERSION_TEXT_H_
#define KERNPACK_SRC_BASE_VERSION_TEXT_H_

#include <cstdint>
#include <string>

namespace kernpack::host {

inline std::string VersionText(uint32_t version) {
  return std::to_string(version >> 16) + "." + std::to_string(version & 0xffff);
}

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_VERSION_TEXT_H_
