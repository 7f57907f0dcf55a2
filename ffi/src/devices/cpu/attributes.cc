// The attributes of the processor, as the system reports them. An attribute that the system doesn't report is None.
#include <string>

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/guard.h"
#include "base/os/processors.h"
#include "devices/cpu/cpu.h"

namespace kernpack::host::cpu {
namespace {

int Number(int64_t value, KpAny* out) {
  if (value <= 0) return 0;
  out->type_index = KP_TYPE_INT;
  out->v.v_int = value;
  return 0;
}

int Answer(int32_t kind, KpAny* out) {
  switch (kind) {
    case KP_ATTR_DEVICE_NAME: {
      const std::string name = os::GetProcessorName();
      return name.empty() ? 0 : kp_string_new(Bytes(name), out);
    }
    case KP_ATTR_MAX_CLOCK_RATE:
      return Number(os::GetMaxClockRate(), out);
    case KP_ATTR_MULTI_PROCESSOR_COUNT:
      return Number(os::CountUsableProcessors(), out);
    case KP_ATTR_L2_CACHE_SIZE_BYTES:
      return Number(os::GetL2CacheBytes(), out);
    case KP_ATTR_TOTAL_GLOBAL_MEMORY:
      return Number(os::GetMemoryBytes(), out);
    case KP_ATTR_AVAILABLE_GLOBAL_MEMORY:
      return Number(os::GetAvailableMemoryBytes(), out);
    default:
      return 0;
  }
}

}  // namespace

int GetAttr(const KpDeviceApi*, KpDLDevice, int32_t kind, KpAny* out) noexcept {
  return Guard("cpu: attribute", [&] { return Answer(kind, out); });
}

}  // namespace kernpack::host::cpu
