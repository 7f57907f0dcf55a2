// Versions of an ABI as people write them, and how every refusal of a binary that was built for another major says it.
#ifndef KERNPACK_SRC_BASE_ABI_VERSION_H_
#define KERNPACK_SRC_BASE_ABI_VERSION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <kernpack/host/host.h>

namespace kernpack::host {

// A version of an ABI as people write it: "1.0" for major << 16 | minor.
inline std::string VersionText(uint32_t version) {
  return std::to_string(version >> 16) + "." + std::to_string(version & 0xffff);
}

// "<came>, this is kernpack 0.1.0 with ABI 1.0, which loads every 1.x; <what to do>". `major`: that of the binary; `older`: what to
// do about one that is older than this host.
inline std::string OtherMajorText(std::string_view came, const char* abi, uint32_t own_version, unsigned long major,
                                  std::string_view older) {
  const uint32_t own_major = own_version >> 16;
  std::string text(came);
  text += ", this is kernpack " + std::string(kp_version()) + " with " + abi + ' ' + VersionText(own_version);
  text += ", which loads every " + std::to_string(own_major) + ".x; ";
  return text.append(major > own_major ? "run `pip install -U kernpack`" : older);
}

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_ABI_VERSION_H_
