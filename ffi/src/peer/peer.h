// What the host asks of a libtvm_ffi that is already in the process. Nothing here loads it.
#ifndef KERNPACK_SRC_PEER_PEER_H_
#define KERNPACK_SRC_PEER_PEER_H_

#include <kernpack/abi.h>

namespace kernpack::host {

// Moves the error in this thread's slot of libtvm_ffi to *out (an ERROR, owned); false when it has none or is not loaded.
bool PeerTakeError(KpAny* out) noexcept;
// Puts `error` (borrowed; NULL clears) into that slot; does nothing when the library is not loaded.
void PeerSetError(KpObject* error) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_PEER_PEER_H_
