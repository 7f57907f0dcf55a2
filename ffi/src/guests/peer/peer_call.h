// Calling a function of a module built with apache-tvm-ffi's SDK.
#ifndef KERNPACK_SRC_GUESTS_PEER_PEER_CALL_H_
#define KERNPACK_SRC_GUESTS_PEER_PEER_CALL_H_

#include <kernpack/abi.h>

namespace kernpack::host {

struct PeerFunction {
  KpSafeCall call;
  const char* name;
};

// Calls `function` (a PeerFunction) with the stream and the allocator of our call in force in the peer's library, and puts
// back what was there.
int PeerCall(void* function, const KpAny* args, int32_t num_args, KpAny* result);
// The same for a function that uses neither.
int PeerCallPlain(void* function, const KpAny* args, int32_t num_args, KpAny* result);
// As PeerCall, for a FUNCTION object of the peer's.
int PeerCallObject(void* function, const KpAny* args, int32_t num_args, KpAny* result);

// Objects of types that were registered here only: the peer ends the process when it looks for their names. 0, or -1 with TypeError
// raised.
int CheckForPeer(const char* who, const KpAny* args, int32_t num_args);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_GUESTS_PEER_PEER_CALL_H_
