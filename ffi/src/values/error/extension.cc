
#include <algorithm>

#include "shared/bytes.h"
#include "values/error/backtrace.h"
#include "values/error/error_object.h"
#include "values/error/slot.h"

namespace kernpack::host {
namespace {

int32_t CaptureForModule(void** frames, int32_t capacity) {
  void* all[kMaxFrames];
  const int32_t count = std::clamp(CaptureFrames(all, __builtin_return_address(0)), 0, std::max(capacity, 0));
  std::copy_n(all, count, frames);
  return count;
}

int RaiseWithFrames(const KpHost*, KpBytes kind, KpBytes message, KpBytes backtrace, void* const* frames,
                    int32_t num_frames) {
  const int count = std::clamp(num_frames, 0, kMaxFrames);
  return RaiseObject(
      NewErrorOfFrames(kind.size ? View(kind) : "RuntimeError", View(message), View(backtrace), frames, count));
}

constexpr KpBacktrace kTable{sizeof(KpBacktrace), 0, CaptureForModule, RaiseWithFrames};

}  // namespace

const KpBacktrace* BacktraceExtension() noexcept { return BacktraceWanted() ? &kTable : nullptr; }

}  // namespace kernpack::host
