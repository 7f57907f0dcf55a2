#include "values/guests.h"

#include "guests/peer/library.h"
#include "guests/peer/peer.h"
#include "guests/peer/peer_module.h"

namespace kernpack::host {
namespace {

// apache-tvm-ffi keeps a table of its own.
int GlobalFunction(KpBytes name, KpAny* out) {
  KpAny found = kp_none();
  if (PeerGlobal(name, &found) != 0) return -1;
  if (found.type_index != KP_TYPE_FUNCTION) return 0;
  const int rc = kp_function_new(
      found.v.v_obj, &PeerCallObject, [](void* function) { kp_release(static_cast<KpObject*>(function)); }, out);
  if (rc != 0) kp_any_release(&found);
  return rc;
}

}  // namespace

constinit const Guests kGuests{PeerLoaded,     PeerTakeError,   PeerSetError, CheckForPeer,
                               GlobalFunction, PeerGlobalNames, PeerRequire,  BuildPeerModule};

}  // namespace kernpack::host
