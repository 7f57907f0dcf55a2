#include "guests/peer/version.h"

#include "base/loaded_libraries.h"

namespace kernpack::host {

PeerVersion GetPeerVersion(void* handle) noexcept {
  PeerVersion version{0, 0, 0};
  const auto get = reinterpret_cast<void (*)(PeerVersion*)>(FindInLibrary(handle, "TVMFFIGetVersion"));
  if (get != nullptr) get(&version);
  return version;
}

}  // namespace kernpack::host
