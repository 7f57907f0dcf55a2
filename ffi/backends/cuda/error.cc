#include "backends/cuda/error.h"

#include "backends/cuda/backend.h"
#include "backends/cuda/text.h"

namespace kernpack::cuda {
namespace {

// Advice for the caller; "" if the driver's own text is enough.
const char* Advice(Result result) {
  switch (result) {
    case kOutOfMemory:
      return "free tensors, or trim the pools of other frameworks in this process";
    case kIllegalAddress:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidPc:
    case kIllegalInstruction:
    case kHardwareStackError:
    case kLaunchFailed:
    case kTensorMemoryLeak:
      return "a kernel that ran earlier did this, not necessarily the last one; run the program under "
             "`compute-sanitizer` "
             "to find it";
    case kLaunchTimeout:
      return "a kernel ran longer than the display's watchdog allows; make it shorter or use a device without a "
             "display";
    case kAssert:
      return "an assert() in a kernel failed; its text is on standard error";
    case kEccUncorrectable:
    case kNvlinkUncorrectable:
    case kContained:
    case kDeviceUnavailable:
    case kExternalDevice:
      return "the device itself failed or was taken away; `nvidia-smi -q` and `dmesg` (Xid) tell more";
    case kNotInitialized:
      return "a process forked after the driver was opened cannot use it; start workers with 'spawn' or 'forkserver'";
    case kDeinitialized:
      return "the process is ending";
    case kContextIsDestroyed:
      return "the device was reset in this process (cudaDeviceReset); nothing made before that works any more";
    case kStreamCaptureUnsupported:
    case kStreamCaptureInvalidated:
    case kStreamCaptureImplicit:
    case kCapturedEvent:
      return "a stream is being captured into a CUDA graph, where this call is not allowed; make it before or after";
    case kInvalidHandle:
      return "check that the stream or event belongs to this device and was not freed";
    case kInvalidValue:
      return "check that the memory was not freed and that the range lies within it";
    case kLaunchOutOfResources:
      return "the block needs more registers than there are; use fewer threads, or compile with -maxrregcount";
    case kInvalidClusterSize:
      return "no multiprocessor group can hold such clusters; use a smaller cluster or less shared memory";
    case kCooperativeLaunchTooLarge:
      return "the blocks of a cooperative launch all run at the same time; use a smaller grid, or blocks with less "
             "shared "
             "memory or fewer threads";
    case kUnsupportedPtxVersion:
      return "the PTX was made by a newer toolkit than the driver knows; update the driver, build with the NVRTC or "
             "nvcc of its "
             "CUDA, or build machine code (-arch=sm_90)";
    default:
      return "";
  }
}

}  // namespace

int Raise(const KpHost* host, const char* kind, std::string_view message) {
  return host->raise(host, kp_bytes(kind), KpBytes{message.data(), message.size()}, KpBytes{"", 0});
}

bool IsSticky(Result result) {
  switch (result) {
    case kEccUncorrectable:
    case kNvlinkUncorrectable:
    case kContained:
    case kDeviceUnavailable:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kAssert:
    case kHardwareStackError:
    case kIllegalInstruction:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidPc:
    case kLaunchFailed:
    case kTensorMemoryLeak:
    case kExternalDevice:
      return true;
    default:
      return false;
  }
}

bool IsGone(Result result) { return IsSticky(result) || result == kDeinitialized || result == kContextIsDestroyed; }

int Fail(const Device& device, Result result, const char* call, std::string_view doing) {
  const std::string what = ResultText(device.driver(), result);
  const auto length = static_cast<int>(doing.size());
  // A sticky error is of work that was started earlier. Whoever reads it wants to know that, not which call came to report it, unless
  // that call waited for the work.
  const bool only_reports = IsSticky(result) && std::string_view(call).find("Synchronize") == std::string_view::npos;
  std::string text = only_reports ? Format("%s: %s, which %s reported while %.*s", device.name().c_str(), what.c_str(),
                                           call, length, doing.data())
                                  : Format("%s: %s failed with %s, while %.*s", device.name().c_str(), call,
                                           what.c_str(), length, doing.data());
  // The text of the emulated device says where the error is, and why.
  const bool found = device.driver().emulated && IsSticky(result) && text.find(": kernel ") != std::string::npos;
  const char* advice = found ? "" : Advice(result);
  if (*advice) text += std::string("; ") + advice;
  if (IsSticky(result)) {
    text +=
        ". This error is sticky: every later call on the device fails alike in this process, which has to be restarted";
  }
  return Raise(device.host(), result == kOutOfMemory ? "MemoryError" : "RuntimeError", text);
}

int FailToFree(const Device& device, Result result, const char* call, std::string_view doing) {
  return IsGone(result) ? 0 : Fail(device, result, call, doing);
}

}  // namespace kernpack::cuda
