// Calling a function of a module built with apache-tvm-ffi's SDK.
#ifndef KERNPACK_SRC_PEER_PEER_CALL_H_
#define KERNPACK_SRC_PEER_PEER_CALL_H_

#include <kernpack/abi.h>

namespace kernpack::host {

// Calls `symbol` (a KpSafeCall) with the stream and the allocator of our call in force in the peer's library, and puts
// back what was there.
int PeerCall(void* symbol, const KpAny* args, int32_t num_args, KpAny* result);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_PEER_PEER_CALL_H_
