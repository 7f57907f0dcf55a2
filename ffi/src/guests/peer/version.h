// Which versions of apache-tvm-ffi's library we call.
#ifndef KERNPACK_SRC_GUESTS_PEER_VERSION_H_
#define KERNPACK_SRC_GUESTS_PEER_VERSION_H_

#include <cstdint>

namespace kernpack::host {

struct PeerVersion {  // as TVMFFIGetVersion fills it in
  uint32_t major;
  uint32_t minor;
  uint32_t patch;
};

// Before 0.1.8 errors had no cause and context, which are read. Its C ABI may change with the minor.
inline constexpr PeerVersion kOldestPeer{0, 1, 8};
inline constexpr PeerVersion kPeerBelow{0, 2, 0};
inline constexpr const char* kPeerRange = "0.1.8 or newer, below 0.2";

constexpr bool Before(const PeerVersion& a, const PeerVersion& b) {
  if (a.major != b.major) return a.major < b.major;
  if (a.minor != b.minor) return a.minor < b.minor;
  return a.patch < b.patch;
}
constexpr bool IsSupported(const PeerVersion& version) {
  return !Before(version, kOldestPeer) && Before(version, kPeerBelow);
}

// The version of the library at the handle (dlopen's). Call it before any other function of the library. All 0 if it is unknown.
PeerVersion GetPeerVersion(void* handle) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_GUESTS_PEER_VERSION_H_
