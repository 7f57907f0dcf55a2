// Modules of apache-tvm-ffi aren't loaded on Windows yet: its loader's search for libraries, and files of its wheels, are other ones there.
#include "guests/peer/library.h"

#include <kernpack/host/host.h>

namespace kernpack::host {

int PeerRequire(const char* path) {
  return kp_raise(
      "ImportError",
      "kernpack.load: '%s' was built with apache-tvm-ffi, whose modules aren't supported on Windows yet; load "
      "it with apache-tvm-ffi itself, or on Linux",
      path);
}

const PeerLibrary& Peer() {
  static constexpr PeerLibrary kNone{};
  return kNone;
}

}  // namespace kernpack::host

extern "C" int kp_peer_set_library(const char*) { return 0; }
