// Streams that end.
#ifndef KERNPACK_SRC_DEVICES_STREAMS_H_
#define KERNPACK_SRC_DEVICES_STREAMS_H_

#include <kernpack/abi.h>

namespace kernpack::host {

// A stream ends: what is kept for it by its address goes, since another may get that address.
void ForgetStream(KpDLDevice device, void* stream);

// Who keeps memory of streams above this layer, and is told then: the workspaces.
using StreamEnd = void(KpDLDevice device, void* stream);
void OnStreamEnd(StreamEnd* tell);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_STREAMS_H_
