#include "devices/memory.h"

#include <algorithm>
#include <string>

#include <kernpack/host/device.h>

#include "shared/bytes.h"
#include "base/guard.h"
#include "devices/pool.h"
#include "devices/registry.h"
#include "values/error/slot.h"
#include "base/log.h"
#include "values/object/object.h"
#include "values/tensor/dltensor.h"
#include "values/tensor/tensor_object.h"

namespace kernpack::host {
namespace {

const KpErrorObject& AsError(const KpAny& error) { return *reinterpret_cast<const KpErrorObject*>(error.v.v_obj); }

// The owner of a tensor's memory. Calls free, not free_async: any stream may have used a tensor without telling the host, and
// the order of one stream promises nothing about the others. (cuCtxRecordEvent would wait for all of them without the host, but it
// invalidates every capture under way.) The CUDA backend frees in batches, so that few tensors wait.
struct DeviceMemory {
  KpDLDevice device;
  void* handle;
};

void FreeDeviceMemory(void* context) {
  const auto* memory = static_cast<DeviceMemory*>(context);
  {
    const ErrorKeeper keeper;
    const KpDeviceApi* api = DeviceApi(memory->device.device_type);
    if (api != nullptr) api->free(api, memory->device, memory->handle);
  }
  delete memory;
}

int Alloc(const KpDLTensor& wanted, KpBytes scope, KpAny* out) {
  const KpDLDevice device = wanted.device;
  const KpDeviceApi* api = DeviceApi(device.device_type);
  if (api == nullptr) return -1;
  auto* memory = new DeviceMemory{device, nullptr};
  const auto alignment = std::min<uint64_t>(api->max_alignment, kTensorAlignment);
  const int rc = WithReserve(api, device, [&] {
    return api->alloc(api, device, static_cast<uint64_t>(NumBytes(wanted)), alignment, scope, &memory->handle);
  });
  if (rc != 0) {
    delete memory;
    return -1;
  }
  KpDLTensor tensor = wanted;
  tensor.data = memory->handle;
  TensorBody* body = nullptr;
  try {
    body = NewTensor(tensor);
  } catch (...) {
    FreeDeviceMemory(memory);
    throw;
  }
  body->context = memory;
  body->release = FreeDeviceMemory;
  SetObject(out, body);
  return 0;
}

}  // namespace

int AllocWithReserve(const KpDeviceApi* api, KpDLDevice device, int (*alloc)(void* context), void* context) {
  if (alloc(context) == 0) return 0;
  OwnedAny error;
  kp_error_take("alloc", -1, error.out());
  uint64_t given_back = 0;
  if (View(AsError(error.get()).kind) == "MemoryError" && TrimPools(device, nullptr, false, &given_back) == 0 &&
      api->trim(api, device) == 0 && alloc(context) == 0) {
    return 0;
  }
  kp_error_clear();
  kp_host()->raise_object(kp_host(), error.get().v.v_obj);
  return -1;
}

ErrorKeeper::ErrorKeeper() noexcept : kept_(kp_none()) {
  if (kp_error_pending()) TakeError(&kept_);
}

ErrorKeeper::~ErrorKeeper() {
  KpAny raised = kp_none();
  if (kp_error_pending() && TakeError(&raised)) {
    try {
      Log(KP_LOG_WARNING, View(AsError(raised).message));
    } catch (...) {
      // No memory for the line: nobody could have handled the error either.
    }
    kp_any_release(&raised);
  }
  if (kept_.type_index == KP_TYPE_ERROR) kp_host()->raise_object(kp_host(), kept_.v.v_obj);
  kp_any_release(&kept_);
}

}  // namespace kernpack::host

using namespace kernpack::host;

int kp_tensor_alloc(const KpDLTensor* prototype, KpBytes scope, KpAny* out) {
  return Guard("kp_tensor_alloc", [&] {
    *out = kp_none();
    KpDLTensor wanted{};
    if (ReadPrototype(prototype, "kp_tensor_alloc", &wanted) != 0) return -1;
    if (wanted.device.device_type == KP_DEVICE_CPU && scope.size == 0) return kp_tensor_new(&wanted, out);
    return Alloc(wanted, scope, out);
  });
}

int kp_fill(const KpDLTensor* to, int32_t value) {
  return Guard("kp_fill", [&] {
    if (kp_dltensor_validate(to, "kp_fill") != 0) return -1;
    if (!IsCompact(*to)) return kp_raise("ValueError", "kp_fill: the tensor is not compact");
    const KpDeviceApi* api = DeviceApi(to->device.device_type);
    if (api == nullptr) return -1;
    const KpMemory place{to->data, to->byte_offset, to->device};
    return api->fill(api, &place, static_cast<uint64_t>(NumBytes(*to)), value & 0xff, kp_stream_get(to->device));
  });
}

int kp_device_reset(KpDLDevice device) {
  return Guard("kp_device_reset", [&] {
    const KpDeviceApi* api = DeviceApi(device.device_type);
    if (api == nullptr || kp_storage_reset_device(device) != 0) return -1;
    if (TrimPools(device, nullptr, false) != 0) return -1;
    return api->trim(api, device);
  });
}
