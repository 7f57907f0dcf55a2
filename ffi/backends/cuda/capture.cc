#include "backends/cuda/capture.h"

#include "backends/cuda/backend.h"
#include "backends/cuda/text.h"

namespace kernpack::cuda {

bool IsCaptured(const Device& device, Stream stream) {
  CaptureStatus status = kCaptureNone;
  return device.driver().cuStreamIsCapturing(stream, &status) == kSuccess && status != kCaptureNone;
}

int RefuseCapture(const Device& device, Stream stream, const char* doing, const char* instead) {
  CaptureStatus status = kCaptureNone;
  const Result result = device.driver().cuStreamIsCapturing(stream, &status);
  if (result == kSuccess && status == kCaptureNone) return 0;
  if (result != kSuccess && result != kStreamCaptureImplicit) return Fail(device, result, "cuStreamIsCapturing", doing);
  const char* which = "the stream is being captured into a CUDA graph";
  if (result == kStreamCaptureImplicit) {
    which = "a stream that waits for the default stream is being captured into a CUDA graph";
  } else if (status == kCaptureInvalidated) {
    which = "the stream is in a capture that an earlier call invalidated";
  }
  return Raise(device.host(), "RuntimeError",
               Format("%s: %s, so %s is not possible; %s", device.name().c_str(), which, doing, instead));
}

}  // namespace kernpack::cuda
