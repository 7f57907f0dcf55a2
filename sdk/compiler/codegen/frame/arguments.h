// Arguments of generated functions and sizes of their memory, in plain C99: part of the frame, and of every C file that is
// generated. Callers have checked arguments against the signature; these checks are what the code itself relies on, whatever
// signature it was given and whoever calls. Their words are those of kernpack/signature/check.h.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_FRAME_ARGUMENTS_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_FRAME_ARGUMENTS_H_

#include "codegen/frame/message.h"

// A parameter or result, as generated code takes it.
typedef struct KpFrameParam {
  const char* name;
  int32_t rank;  // -1: a scalar
  uint8_t code;  // of the elements, or of the scalar: KpDTypeCode
  uint8_t bits;
  uint16_t any_rank;  // 1: the first extent stands for any number of dims
} KpFrameParam;

typedef struct KpFrameFunction {
  const char* name;
  const KpFrameParam* params;
  int32_t num_params;
} KpFrameFunction;

// Extents, and what leading dims make, stay below this: sums and products of a few of them fit 64 bits.
#define KP_MOST_ELEMENTS ((int64_t)1 << 48)

// Every function returns 0, or -1 with an error raised.

KP_INLINE_C KpDLDataType kp_dtype_of(const KpFrameParam* p) {
  KpDLDataType t;
  t.code = p->code;
  t.bits = p->bits;
  t.lanes = 1;
  return t;
}

// The extents of a tensor of that rank. `leading` dims are seen as one, of *out elements.
KP_INLINE_C int kp_check_extents(const KpHost* host, const char* function, const char* param, const KpDLTensor* t,
                                 int32_t leading, int64_t* out) {
  int64_t elements = 1;
  int32_t d = t->ndim;
  while (d > 0 && t->shape[d - 1] >= 0 && (t->shape[d - 1] == 0 || elements <= INT64_MAX / t->shape[d - 1])) {
    elements *= t->shape[--d];
  }
  if (d > 0 || elements >> 56) {  // the widest element has 16 bytes
    return kp_fail(host, "ValueError", "%s: %s: expected sizes of at least 0 whose product fits 64 bits, got %l",
                   function, param, t->shape, t->ndim);
  }
  *out = 1;
  for (; d < t->ndim; ++d) {
    const int64_t n = t->shape[d];
    if (n > KP_MOST_ELEMENTS || (d < leading && n && *out > KP_MOST_ELEMENTS / n)) {
      return kp_fail(host, "ValueError", "%s: %s: expected sizes up to 2^48, got %l", function, param, t->shape,
                     t->ndim);
    }
    if (d < leading) *out *= n;
  }
  return 0;
}

// True if the elements follow each other in row-major order. Extents have been checked.
KP_INLINE_C int kp_is_compact(const KpDLTensor* t) {
  int64_t step = 1;
  int compact = 1;
  if (!t->strides) return 1;
  for (int32_t d = t->ndim; d-- > 0;) {
    if (t->shape[d] == 0) return 1;
    if (t->shape[d] != 1 && t->strides[d] != step) compact = 0;
    step *= t->shape[d];
  }
  return compact;
}

// The device of a call's tensors. Its type is given; its number, which means nothing for the CPU, is that of the first tensor.
typedef struct KpPlace {
  KpDLDevice device;
  const char* known_from;  // the parameter; NULL: none so far
} KpPlace;

KP_INLINE_C int kp_check_place(const KpHost* host, const char* function, const char* param, const KpDLTensor* t,
                               KpPlace* place) {
  if (t->device.device_type != place->device.device_type) {
    if (place->device.device_type == KP_DEVICE_CPU) {
      return kp_fail(host, "ValueError", "%s: %s: expected device cpu, got %D: call .cpu() first", function, param,
                     t->device);
    }
    return kp_fail(host, "ValueError", "%s: %s: expected device %s, got %D: move it there", function, param,
                   kp_known_device_name(place->device.device_type), t->device);
  }
  if (t->device.device_type == KP_DEVICE_CPU) return 0;
  if (!place->known_from) {
    place->device = t->device;
    place->known_from = param;
  }
  if (t->device.device_id == place->device.device_id) return 0;
  return kp_fail(host, "ValueError", "%s: %s: expected device %D (that of %s), got %D: move one of them", function,
                 param, place->device, place->known_from, t->device);
}

// Writes the tensor's address, then its extents.
KP_INLINE_C int kp_unpack_tensor(const KpHost* host, const char* function, const KpFrameParam* p, const KpAny* a,
                                 KpPlace* place, uint64_t* slots) {
  const KpDLTensor* const t = kp_any_tensor(a);
  const int32_t rest = p->rank - p->any_rank;  // dims that are seen one by one
  int64_t leading = 1;
  if (!t) return kp_fail(host, "TypeError", "%s: %s: expected a tensor, got %t", function, p->name, a);
  if (t->dtype.code != p->code || t->dtype.bits != p->bits || t->dtype.lanes != 1) {
    return kp_fail(host, "TypeError", "%s: %s: expected dtype %d, got %d", function, p->name, kp_dtype_of(p), t->dtype);
  }
  if (p->any_rank ? t->ndim < rest : t->ndim != rest) {
    return kp_fail(host, "ValueError", "%s: %s: expected %s%i dims, got %i", function, p->name,
                   p->any_rank ? "at least " : "", (int64_t)rest, (int64_t)t->ndim);
  }
  if (kp_check_extents(host, function, p->name, t, t->ndim - rest, &leading)) return -1;
  if (!kp_is_compact(t)) {
    return kp_fail(host, "ValueError",
                   "%s: %s: expected a contiguous tensor, got shape %l with strides %l: pass a contiguous one (torch: "
                   "x.contiguous(), NumPy: np.ascontiguousarray(x))",
                   function, p->name, t->shape, t->ndim, t->strides, t->ndim);
  }
  if (kp_check_place(host, function, p->name, t, place)) return -1;
  *slots++ = (uint64_t)(uintptr_t)t->data + t->byte_offset;
  if (p->any_rank) *slots++ = (uint64_t)leading;
  for (int32_t d = t->ndim - rest; d < t->ndim; ++d) *slots++ = (uint64_t)t->shape[d];
  return 0;
}

// Writes the bits of an int64_t, or of a double for every float type. An int, a bool and a float are taken for each other as far
// as they fit: which of them a caller may pass, the signature says.
KP_INLINE_C int kp_unpack_scalar(const KpHost* host, const char* function, const KpFrameParam* p, const KpAny* a,
                                 uint64_t* slot) {
  const int is_int = a->type_index == KP_TYPE_INT || a->type_index == KP_TYPE_BOOL;
  const int is_signed = p->code == KP_DTYPE_INT;
  const int64_t value = a->v.v_int;
  int64_t low = 0, high = INT64_MAX;
  if (p->code != KP_DTYPE_INT && p->code != KP_DTYPE_UINT && p->code != KP_DTYPE_BOOL) {
    const double number = is_int ? (double)value : a->v.v_float;
    if (!is_int && a->type_index != KP_TYPE_FLOAT) {
      return kp_fail(host, "TypeError", "%s: %s: expected float, got %t", function, p->name, a);
    }
    memcpy(slot, &number, sizeof number);
    return 0;
  }
  if (!is_int) {
    return kp_fail(host, "TypeError", "%s: %s: expected %s, got %t", function, p->name,
                   p->code == KP_DTYPE_BOOL ? "bool" : "int", a);
  }
  if (p->code == KP_DTYPE_BOOL) {
    high = 1;
  } else if (p->bits < 64) {
    high = ((int64_t)1 << (p->bits - is_signed)) - 1;
  }
  if (is_signed) low = -high - 1;
  if (value < low || value > high) {
    return kp_fail(host, "ValueError", "%s: %s: expected int from %i to %i, got %i", function, p->name, low, high,
                   value);
  }
  *slot = (uint64_t)value;
  return 0;
}

// Checks arguments and writes them to `slots`: one slot for a scalar, 1 + rank for a tensor.
KP_INLINE_C int kp_unpack(const KpHost* host, const KpFrameFunction* f, const KpAny* args, int32_t n, KpPlace* place,
                          uint64_t* slots) {
  if (n != f->num_params) {
    return kp_fail(host, "TypeError", "%s: expected %i arguments, got %i", f->name, (int64_t)f->num_params, (int64_t)n);
  }
  for (int32_t i = 0; i < n; ++i) {
    const KpFrameParam* const p = &f->params[i];
    if (p->rank < 0 ? kp_unpack_scalar(host, f->name, p, &args[i], slots)
                    : kp_unpack_tensor(host, f->name, p, &args[i], place, slots)) {
      return -1;
    }
    slots += p->rank < 0 ? 1 : p->rank + 1;
  }
  return 0;
}

KP_INLINE_C int kp_unpack_on_cpu(const KpHost* host, const KpFrameFunction* f, const KpAny* args, int32_t n,
                                 uint64_t* slots) {
  KpPlace place;
  place.device.device_type = KP_DEVICE_CPU;
  place.device.device_id = 0;
  place.known_from = NULL;
  return kp_unpack(host, f, args, n, &place, slots);
}

// The float in a slot.
KP_INLINE_C double kp_number_in(uint64_t slot) {
  double number;
  memcpy(&number, &slot, sizeof number);
  return number;
}

// That an extent is what the function's other arguments make it.
KP_INLINE_C int kp_check_extent(const KpHost* host, const char* function, const char* param, int32_t axis, int64_t got,
                                int64_t expected) {
  if (got == expected) return 0;
  return kp_fail(host, "ValueError", "%s: %s: dimension %i: expected %i, got %i", function, param, (int64_t)axis,
                 expected, got);
}

// The bytes of memory that the function needs, which errors call `what`.
KP_INLINE_C int kp_bytes_of(const KpHost* host, const char* what, uint64_t element_bytes, int32_t rank,
                            const int64_t* extents, uint64_t* out) {
  *out = element_bytes;
  for (int32_t d = 0; d < rank; ++d) {
    if (extents[d] < 0) {
      return kp_fail(host, "ValueError", "%s: expected sizes of at least 0, got %l", what, extents, rank);
    }
    if (extents[d] && *out > (uint64_t)KP_MOST_ELEMENTS / (uint64_t)extents[d]) {
      return kp_fail(host, "MemoryError", "%s: expected at most 2^48 bytes, got %i for each of %l elements", what,
                     (int64_t)element_bytes, extents, rank);
    }
    *out *= (uint64_t)extents[d];
  }
  return 0;
}

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_FRAME_ARGUMENTS_H_
