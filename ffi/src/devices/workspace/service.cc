#include <kernpack/host/device.h>

#include "base/guard.h"
#include "devices/call/context.h"
#include "base/call_flags.h"
#include "devices/observers.h"
#include "base/services.h"
#include "values/tensor/dltensor.h"
#include "devices/workspace/workspace.h"

namespace kernpack::host::service {

int workspace(const KpHost*, const KpStorageKey* key, uint64_t bytes, uint32_t flags, void** out_data) noexcept {
  return Guard("workspace", [&] {
    KeyView view;
    *out_data = nullptr;
    if (ReadKey(key, "workspace", &view) != 0) return -1;
    if (flags & ~uint32_t{KP_WORKSPACE_ZEROED}) return kp_raise("ValueError", "workspace: unknown flags 0x%x", flags);
    if (!IsKnownDeviceType(key->device.device_type)) {
      return kp_raise("ValueError", "workspace: device type is %d; expected one of DLPack's", key->device.device_type);
    }
    view.scope = KP_SCOPE_STREAM;
    view.device = key->device;
    view.stream = key->stream != nullptr ? key->stream : CurrentStream(key->device);
    bool served = false;
    if (check::Checking() && kObservers.workspace(view, bytes, flags, out_data, &served) != 0) return -1;
    return served ? 0 : GetWorkspace(view, bytes, flags, out_data);
  });
}

}  // namespace kernpack::host::service
