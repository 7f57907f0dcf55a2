// The stream of each device that this thread has made current.
#ifndef KERNPACK_SRC_DEVICES_CALL_THREAD_STREAM_H_
#define KERNPACK_SRC_DEVICES_CALL_THREAD_STREAM_H_

#include <kernpack/abi.h>

namespace kernpack::host {

inline bool SameDevice(KpDLDevice a, KpDLDevice b) {
  return a.device_type == b.device_type && a.device_id == b.device_id;
}

// NULL: the device's default stream.
void* ThreadStream(KpDLDevice device) noexcept;
// Gives the previous one. Throws std::bad_alloc.
void* SetThreadStream(KpDLDevice device, void* stream);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_CALL_THREAD_STREAM_H_
