#include "values/tensor/tensor_object.h"

#include <cstring>

#include <kernpack/host/host.h>

#include "base/guard.h"
#include "values/object/object.h"
#include "values/tensor/dltensor.h"

namespace kernpack::host {
namespace {

void DeleteTensor(void* object, int flags) noexcept {
  auto* tensor = static_cast<TensorBody*>(object);
  if ((flags & KP_DELETE_STRONG) && tensor->release != nullptr) tensor->release(tensor->context);
  if (flags & KP_DELETE_WEAK) FreeObject(object);
}

void PlaceShape(TensorBody* tensor, const KpDLTensor& source) {
  const auto ndim = static_cast<size_t>(source.ndim);
  auto* shape = reinterpret_cast<int64_t*>(tensor + 1);
  int64_t* strides = shape + ndim;
  tensor->base.tensor = source;
  tensor->base.tensor.shape = shape;
  tensor->base.tensor.strides = strides;
  if (ndim == 0) return;
  std::memcpy(shape, source.shape, ndim * sizeof(int64_t));
  if (source.strides != nullptr) {
    std::memcpy(strides, source.strides, ndim * sizeof(int64_t));
  } else {
    kp_row_major_strides(source.ndim, shape, strides);
  }
}

size_t ShapeBytes(const KpDLTensor& source) { return 2 * static_cast<size_t>(source.ndim) * sizeof(int64_t); }

}  // namespace

int ReadPrototype(const KpDLTensor* prototype, const char* who, KpDLTensor* out) {
  if (prototype == nullptr) return kp_raise("ValueError", "%s: the prototype is NULL", who);
  *out = *prototype;
  out->data = out;  // there is none yet; the rest must be sound
  out->strides = nullptr;
  out->byte_offset = 0;
  return kp_dltensor_validate(out, who);
}

TensorBody* NewTensor(const KpDLTensor& source) {
  auto* tensor = NewObject<TensorBody>(KP_TYPE_TENSOR, DeleteTensor, ShapeBytes(source));
  PlaceShape(tensor, source);
  return tensor;
}

TensorBody* NewTensorWithData(const KpDLTensor& prototype, size_t bytes) {
  const size_t head =
      (sizeof(TensorBody) + ShapeBytes(prototype) + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  size_t extra = 0;
  if (__builtin_add_overflow(head - sizeof(TensorBody), bytes, &extra)) throw std::bad_alloc();
  auto* tensor = NewObject<TensorBody>(KP_TYPE_TENSOR, DeleteTensor, extra, kTensorAlignment);
  KpDLTensor compact = prototype;
  compact.strides = nullptr;
  compact.byte_offset = 0;
  compact.data = reinterpret_cast<char*>(tensor) + head;
  PlaceShape(tensor, compact);
  return tensor;
}

uint64_t TensorFlags(const KpObject* tensor) noexcept {
  return tensor->deleter == DeleteTensor ? reinterpret_cast<const TensorBody*>(tensor)->flags : 0;
}

}  // namespace kernpack::host

using namespace kernpack::host;

int kp_tensor_new(const KpDLTensor* prototype, KpAny* out) {
  return Guard("kp_tensor_new", [&] {
    KpDLTensor wanted{};
    if (ReadPrototype(prototype, "kp_tensor_new", &wanted) != 0) return -1;
    if (wanted.device.device_type != KP_DEVICE_CPU) {
      return kp_raise("ValueError",
                      "kp_tensor_new: expected device cpu, got %s:%d; tensors of another device come from its "
                      "framework or its backend",
                      kp_device_type_name(wanted.device.device_type), wanted.device.device_id);
    }
    SetObject(out, NewTensorWithData(wanted, static_cast<size_t>(NumBytes(wanted))));
    return 0;
  });
}

int kp_tensor_wrap(const KpDLTensor* tensor, void* context, void (*deleter)(void* context), KpAny* out) {
  return Guard("kp_tensor_wrap", [&] {
    if (kp_dltensor_validate(tensor, "kp_tensor_wrap") != 0) return -1;
    TensorBody* body = NewTensor(*tensor);
    body->context = context;
    body->release = deleter;
    SetObject(out, body);
    return 0;
  });
}

int kp_tensor_make_read_only(KpObject* tensor) {
  if (tensor == nullptr || tensor->type_index != KP_TYPE_TENSOR || tensor->deleter != DeleteTensor) {
    return kp_raise("TypeError", "kp_tensor_make_read_only: expected a Tensor that this library made");
  }
  reinterpret_cast<TensorBody*>(tensor)->flags |= kReadOnly;
  return 0;
}

uint64_t kp_tensor_flags(const KpObject* tensor) {
  return tensor != nullptr && tensor->type_index == KP_TYPE_TENSOR ? TensorFlags(tensor) : 0;
}
