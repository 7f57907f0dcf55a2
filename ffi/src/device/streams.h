// The stream of each device that this thread has made current.
#ifndef KERNPACK_SRC_DEVICE_STREAMS_H_
#define KERNPACK_SRC_DEVICE_STREAMS_H_

#include <kernpack/abi.h>

namespace kernpack::host {

// NULL: the device's default stream.
void* ThreadStream(KpDLDevice device) noexcept;

// A stream ends: what is kept for it by its address goes, since another may get that address.
void ForgetStream(KpDLDevice device, void* stream);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICE_STREAMS_H_
