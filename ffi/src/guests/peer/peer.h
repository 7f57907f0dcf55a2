// Calls of a libtvm_ffi that is already in the process. Nothing here loads it.
#ifndef KERNPACK_SRC_GUESTS_PEER_PEER_H_
#define KERNPACK_SRC_GUESTS_PEER_PEER_H_

#include <kernpack/abi.h>

#include <set>
#include <string>

namespace kernpack::host {

// Moves the error in this thread's slot of libtvm_ffi to *out (an ERROR, owned); false when it has none or is not loaded.
bool PeerTakeError(KpAny* out) noexcept;
// Puts `error` (borrowed; NULL clears) into that slot; does nothing when the library is not loaded.
void PeerSetError(KpObject* error) noexcept;

// True if a libtvm_ffi of a supported version is in the process.
bool PeerLoaded() noexcept;
// Its global function of that name (owned), or NONE. 0, or -1 raised.
int PeerGlobal(KpBytes name, KpAny* out);

// The names of its global functions; none when it is not loaded or does not tell.
std::set<std::string> PeerGlobalNames();

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_GUESTS_PEER_PEER_H_
