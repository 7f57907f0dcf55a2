// Refuses values by name that would crash every consumer.
#include <cinttypes>

#include <kernpack/host/host.h>

#include "values/tensor/dltensor.h"

namespace kernpack::host {
namespace {

constexpr int64_t kMaxBytes = INT64_MAX;

int CheckDtype(const KpDLDataType& dtype, const char* what) {
  if (dtype.code >= KP_DTYPE_BLOCK_BEGIN) {
    return kp_raise("ValueError",
                    "%s: dtype code is %d; codes from %d up are reserved for block formats of a later ABI", what,
                    dtype.code, KP_DTYPE_BLOCK_BEGIN);
  }
  if (dtype.code > KP_DTYPE_FLOAT4_E2M1FN) {
    return kp_raise("ValueError", "%s: dtype code is %d; expected 0 to %d (DLPack 1.x)", what, dtype.code,
                    KP_DTYPE_FLOAT4_E2M1FN);
  }
  if (dtype.bits == 0) return kp_raise("ValueError", "%s: dtype has 0 bits; expected at least 1", what);
  if (dtype.lanes == 0) return kp_raise("ValueError", "%s: dtype has 0 lanes; expected at least 1", what);
  return 0;
}

// The bytes that shape and dtype describe. Empty dims count as one here: strides are computed that way.
int CheckExtents(const KpDLTensor& tensor, const char* what, bool* out_empty) {
  int64_t count = 1;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    const int64_t extent = tensor.shape[i];
    if (extent < 0) {
      return kp_raise("ValueError", "%s: shape[%d] is %" PRId64 "; expected 0 or more", what, i, extent);
    }
    if (extent == 0) {
      *out_empty = true;
    } else if (__builtin_mul_overflow(count, extent, &count)) {
      return kp_raise("ValueError", "%s: the product of its shape overflows 64 bits at shape[%d] = %" PRId64, what, i,
                      extent);
    }
  }
  int64_t bits = 0;
  if (__builtin_mul_overflow(count, ElementBits(tensor.dtype), &bits)) {
    return kp_raise("ValueError", "%s: %" PRId64 " elements of %" PRId64 " bits overflow the address space", what,
                    count, ElementBits(tensor.dtype));
  }
  return 0;
}

// The lowest and highest byte that strides reach, relative to data + byte_offset.
int CheckStrides(const KpDLTensor& tensor, const char* what, int64_t* out_low, int64_t* out_high) {
  const int64_t element = (ElementBits(tensor.dtype) + 7) / 8;
  int64_t low = 0;
  int64_t high = 0;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    int64_t reach = 0;
    if (tensor.shape[i] > 1 && (__builtin_mul_overflow(tensor.strides[i], tensor.shape[i] - 1, &reach) ||
                                __builtin_mul_overflow(reach, element, &reach) ||
                                __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))) {
      return kp_raise("ValueError", "%s: strides[%d] = %" PRId64 " with shape[%d] = %" PRId64 " overflows 64 bits",
                      what, i, tensor.strides[i], i, tensor.shape[i]);
    }
  }
  *out_low = low;
  *out_high = high;
  return __builtin_add_overflow(high, element, out_high)
             ? kp_raise("ValueError", "%s: its strides reach past the end of the address space", what)
             : 0;
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_dltensor_validate(const KpDLTensor* tensor, const char* what) {
  if (what == nullptr) what = "tensor";
  if (tensor == nullptr) return kp_raise("ValueError", "%s: the DLTensor is NULL", what);
  if (tensor->ndim < 0 || tensor->ndim > kMaxNdim) {
    return kp_raise("ValueError", "%s: ndim is %d; expected 0 to %d", what, tensor->ndim, kMaxNdim);
  }
  if (tensor->shape == nullptr && tensor->ndim > 0) {
    return kp_raise("ValueError", "%s: shape is NULL but ndim is %d", what, tensor->ndim);
  }
  if (CheckDtype(tensor->dtype, what) != 0) return -1;
  if (!IsKnownDeviceType(tensor->device.device_type)) {
    return kp_raise("ValueError",
                    "%s: device type %d is unknown; expected one that DLPack defines (1 is cpu, 2 is cuda)", what,
                    tensor->device.device_type);
  }
  if (tensor->device.device_id < 0) {
    return kp_raise("ValueError", "%s: device id is %d; expected 0 or more", what, tensor->device.device_id);
  }
  bool empty = false;
  if (CheckExtents(*tensor, what, &empty) != 0) return -1;
  if (tensor->byte_offset > static_cast<uint64_t>(kMaxBytes)) {
    return kp_raise("ValueError", "%s: byte_offset is %" PRIu64 ", more than half the address space", what,
                    tensor->byte_offset);
  }
  if (empty) return 0;
  if (tensor->data == nullptr) {
    return kp_raise("ValueError", "%s: data is NULL but the shape has elements", what);
  }
  int64_t low = 0;
  int64_t high = 0;
  if (tensor->strides != nullptr) {
    if (CheckStrides(*tensor, what, &low, &high) != 0) return -1;
  } else {
    high = NumBytes(*tensor);
  }
  const uint64_t start = reinterpret_cast<uintptr_t>(tensor->data);
  uint64_t first = 0;
  uint64_t end = 0;
  if (__builtin_add_overflow(start, tensor->byte_offset, &first) ||
      __builtin_add_overflow(first, static_cast<uint64_t>(high), &end) || first < -static_cast<uint64_t>(low)) {
    return kp_raise("ValueError", "%s: data, byte_offset %" PRIu64 " and extent together leave the address space", what,
                    tensor->byte_offset);
  }
  return 0;
}
