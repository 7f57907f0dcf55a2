#include "guests/torch/arguments.h"

#include <kernpack/host/signature.h>

#include "guests/torch/dtype.h"

namespace kernpack::torch {

int Allocate(const Shim& shim, const char* function, const KpDLTensor& prototype, Tensor* out) {
  int64_t strides[KP_MAX_NDIM];
  kp_row_major_strides(prototype.ndim, prototype.shape, strides);
  const int32_t dtype = DTypeToTorch(prototype.dtype);
  const int32_t device = DeviceTypeToTorch(prototype.device.device_type);
  if (dtype < 0 || device < 0) {
    return kp_raise("TypeError", "%s: torch has no %s tensors on %s", function, kp_dtype_name(prototype.dtype),
                    kp_device_type_name(prototype.device.device_type));
  }
  if (shim.aoti_torch_empty_strided(prototype.ndim, prototype.shape, strides, dtype, device, prototype.device.device_id,
                                    out) == 0) {
    return 0;
  }
  return RaiseTorchError(shim, function, "allocating a tensor");
}

int AllocateForKernel(void* context, const KpDLTensor* prototype, KpAny* out) {
  const Shim& shim = *static_cast<const Shim*>(context);
  Tensor tensor = nullptr;
  void* data = nullptr;
  if (Allocate(shim, "kernpack.torch", *prototype, &tensor) != 0) return -1;
  KpDLTensor view = *prototype;
  view.strides = nullptr;
  view.byte_offset = 0;
  if (shim.torch_get_mutable_data_ptr(tensor, &data) != 0) {
    shim.aoti_torch_delete_tensor_object(tensor);
    return RaiseTorchError(shim, "kernpack.torch", "allocating a tensor");
  }
  view.data = data;
  const auto release = [](void* held) {
    if (const Shim* loaded = FindShim()) loaded->aoti_torch_delete_tensor_object(static_cast<Tensor>(held));
  };
  if (kp_tensor_wrap(&view, tensor, release, out) == 0) return 0;
  shim.aoti_torch_delete_tensor_object(tensor);
  return -1;
}

}  // namespace kernpack::torch
