// A workspace from the pools as a tensor, for who passes tensors on.
#include <memory>

#include <kernpack/host/device.h>

#include "base/guard.h"
#include "devices/memory.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

struct Lent {
  KpDLDevice device;
  void* handle;
  void* stream;
};

void GiveBack(void* context) {
  const std::unique_ptr<Lent> lent(static_cast<Lent*>(context));
  const ErrorKeeper keeper;
  kp_workspace_free(lent->device, lent->handle, lent->stream);
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_workspace_tensor(KpDLDevice device, uint64_t bytes, KpAny* out) {
  return Guard("kp_workspace_tensor", [&] {
    *out = kp_none();
    auto lent = std::make_unique<Lent>(Lent{device, nullptr, kp_stream_get(device)});
    if (kp_workspace_alloc(device, bytes, lent->stream, &lent->handle) != 0) return -1;
    int64_t extent = static_cast<int64_t>(bytes);
    const KpDLTensor tensor{lent->handle, device, 1, {KP_DTYPE_UINT, 8, 1}, &extent, nullptr, 0};
    if (kp_tensor_wrap(&tensor, lent.get(), GiveBack, out) != 0) {
      GiveBack(lent.release());
      return -1;
    }
    static_cast<void>(lent.release());  // the tensor's now
    return 0;
  });
}
