// Streams that are being captured into a CUDA graph: what would break the capture is refused before the driver sees it.
#ifndef KERNPACK_BACKENDS_CUDA_CAPTURE_H_
#define KERNPACK_BACKENDS_CUDA_CAPTURE_H_

#include "backends/cuda/driver.h"

namespace kernpack::cuda {

struct Device;

// While it lives, this thread's calls that touch no captured stream are allowed, whoever captures in whichever mode.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& driver) : driver_(driver) { Exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() { Exchange(); }

 private:
  void Exchange() { static_cast<void>(driver_.cuThreadExchangeStreamCaptureMode(&mode_)); }

  const Driver& driver_;
  CaptureMode mode_ = kCaptureModeRelaxed;  // then the thread's own
};

// True if `stream` is being captured, as far as the driver can still tell. Call within an ActiveContext.
bool IsCaptured(const Device& device, Stream stream);

// 0, or -1 with an error when `stream` is being captured: "<doing> ...; <instead>". Call within an ActiveContext.
int RefuseCapture(const Device& device, Stream stream, const char* doing, const char* instead);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_CAPTURE_H_
