// The stream of the call in progress.
#ifndef KERNPACK_STREAM_H_
#define KERNPACK_STREAM_H_

#include <kernpack/call.h>
#include <kernpack/device.h>

KP_NAMESPACE_BEGIN

// The stream of the caller's framework on that device, borrowed, e.g. a cudaStream_t; NULL on the CPU and for the default stream.
inline void* stream(Device device) {
  void* out = nullptr;
  const KpHost* h = detail::host();
  detail::check_host(h->current_stream(h, device, &out));
  return out;
}

// Throws kp::Error KeyboardInterrupt if the user pressed Ctrl-C. For loops that run for seconds.
inline void check_interrupts() {
  const KpHost* h = detail::host();
  detail::check_host(h->check_interrupts(h));
}

KP_NAMESPACE_END

#endif  // KERNPACK_STREAM_H_
