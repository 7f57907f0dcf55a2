#include "guests/peer/version.h"

#include <dlfcn.h>

namespace kernpack::host {

PeerVersion GetPeerVersion(void* handle) noexcept {
  PeerVersion version{0, 0, 0};
  const auto get = reinterpret_cast<void (*)(PeerVersion*)>(dlsym(handle, "TVMFFIGetVersion"));
  if (get != nullptr) get(&version);
  return version;
}

}  // namespace kernpack::host
