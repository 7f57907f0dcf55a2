/* The memo of a function's last good call. It holds whatever kp_sig_check reads of the arguments, apart from addresses, which
 * are looked at each time, with the bytes around them where arguments are written (they must overlap nothing). It suits functions
 * that take neither lists nor strings nor a workspace. With a GIL, it is held
 * where the memo is read and written; without one, each thread has a memo of its own. */
#include <string.h>

#include "call_typed.h"
#include "frame.h"

enum { kMaxParams = 8, kMaxDims = 6 };

typedef struct Remembered {
  KpAny value; /* unless is_tensor */
  int32_t is_tensor;
  int32_t ndim;
  KpDLDevice device;
  KpDLDataType dtype;
  int32_t empty; /* no elements: data may be NULL */
  uintptr_t misaligned; /* address bits that must be 0 */
  uint64_t before, after; /* bytes that the elements reach before the address, and from it on */
  int64_t dims[2 * kMaxDims]; /* sizes, then strides */
} Remembered;

struct KpyMemo {
  int filled;
  KpDLDevice device;
  int32_t num_written;
  int32_t written[kMaxParams]; /* parameters that the function writes to */
  Remembered params[kMaxParams];
  KpDLTensor prototypes[KP_SIG_MAX_RESULTS]; /* extents in result_dims */
  int64_t result_dims[KP_SIG_MAX_RESULTS][2 * kMaxDims];
};

int kpy_memo_init(const KpyFunction* f, KpyMemo** out) {
  KpyMemo* memo;
  int32_t i;
  if (f->program == NULL || f->numbers_only || f->num_params > kMaxParams || f->has_workspace) return 0;
  for (i = 0; i < f->num_params; ++i) {
    if (f->params[i].kind == KP_PARAM_STR || (f->params[i].flags & KP_PARAM_LIST)) return 0;
  }
  *out = memo = (KpyMemo*)PyMem_Calloc(1, sizeof(KpyMemo));
  if (memo == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (i = 0; i < f->num_params; ++i) {
    if (f->params[i].flags & KP_PARAM_MUTATED) memo->written[memo->num_written++] = i;
  }
  return 0;
}

static inline int SameTensor(const Remembered* known, const KpDLTensor* tensor) {
  const int32_t n = tensor->ndim;
  int32_t i;
  if (n != known->ndim || tensor->strides == NULL || memcmp(&tensor->dtype, &known->dtype, sizeof(KpDLDataType)) != 0 ||
      memcmp(&tensor->device, &known->device, sizeof(KpDLDevice)) != 0) {
    return 0;
  }
  for (i = 0; i < n; ++i) {
    if (tensor->shape[i] != known->dims[i] || tensor->strides[i] != known->dims[kMaxDims + i]) return 0;
  }
  if ((((uintptr_t)tensor->data + tensor->byte_offset) & known->misaligned) != 0) return 0;
  return tensor->data != NULL || known->empty;
}

static inline uintptr_t GetAddress(const KpDLTensor* tensor) { return (uintptr_t)tensor->data + tensor->byte_offset; }

/* True if a written tensor may share a byte with another argument. Every tensor has the shape and strides in the memo. */
static inline int MayOverlap(const KpyFunction* f, const KpyTypedCall* t) {
  const KpyMemo* memo = t->local->memo;
  int32_t w, j;
  for (w = 0; w < memo->num_written; ++w) {
    const int32_t i = memo->written[w];
    const Remembered* known = &memo->params[i];
    uintptr_t begin, end;
    if (!known->is_tensor || known->empty) continue;
    begin = GetAddress(t->values[i].v.v_tensor) - known->before;
    end = GetAddress(t->values[i].v.v_tensor) + known->after;
    for (j = 0; j < f->num_params; ++j) {
      const Remembered* other = &memo->params[j];
      uintptr_t at;
      if (j == i || !other->is_tensor || other->empty) continue;
      at = GetAddress(t->values[j].v.v_tensor);
      if (begin < at + other->after && at - other->before < end) return 1;
    }
  }
  return 0;
}

int kpy_memo_recall(const KpyFunction* f, KpyTypedCall* t) {
  const KpyMemo* memo = t->local->memo;
  int32_t i;
  if (!memo->filled) return 0;
  for (i = 0; i < f->num_params; ++i) {
    const Remembered* known = &memo->params[i];
    const KpAny* value = &t->values[i];
    if (known->is_tensor) {
      if (value->type_index != KP_TYPE_DLTENSOR_PTR || !SameTensor(known, value->v.v_tensor)) return 0;
    } else if (memcmp(value, &known->value, sizeof(KpAny)) != 0) {
      return 0;
    }
  }
  if (memo->num_written > 0 && MayOverlap(f, t)) return 0; /* the check says where */
  t->device = memo->device;
  for (i = 0; i < f->num_results; ++i) {
    /* Copied: allocating a result may run Python, and so another call of this function. */
    const int32_t n = memo->prototypes[i].ndim;
    int64_t* dims = kpy_call_dims(&t->call, 2 * n);
    if (dims == NULL) {
      PyErr_Clear();
      return 0;
    }
    memcpy(dims, memo->result_dims[i], (size_t)n * sizeof(int64_t));
    memcpy(dims + n, memo->result_dims[i] + kMaxDims, (size_t)n * sizeof(int64_t));
    t->prototypes[i] = memo->prototypes[i];
    t->prototypes[i].shape = dims;
    t->prototypes[i].strides = dims + n;
  }
  return 1;
}

static void RememberReach(Remembered* known, const KpDLTensor* tensor) {
  const uint64_t bits = (uint64_t)tensor->dtype.bits * tensor->dtype.lanes;
  uint64_t low = 0, high = 1;
  int32_t i;
  for (i = 0; i < tensor->ndim; ++i) {
    const int64_t reach = (tensor->shape[i] - 1) * tensor->strides[i];
    if (reach < 0) {
      low -= (uint64_t)reach;
    } else {
      high += (uint64_t)reach;
    }
  }
  known->before = (low * bits + 7) / 8;
  known->after = (high * bits + 7) / 8;
}

/* Tensor values are remembered by what they look like; 0: too big for that. */
static int Remember(Remembered* known, const KpAny* value) {
  const KpDLTensor* tensor = kp_any_tensor(value);
  uint32_t bits;
  int32_t i;
  known->is_tensor = tensor != NULL;
  known->value = *value;
  if (tensor == NULL) return !kp_is_object(value);
  if (tensor->ndim > kMaxDims || tensor->strides == NULL) return 0;
  bits = tensor->dtype.code == KP_DTYPE_COMPLEX ? tensor->dtype.bits / 2u : tensor->dtype.bits;
  known->ndim = tensor->ndim;
  known->device = tensor->device;
  known->dtype = tensor->dtype;
  /* The check asks for an element's natural alignment, at most 8, where data is an address. */
  known->misaligned = tensor->device.device_type != KP_DEVICE_CPU ? 0
                      : bits >= 64                                ? 7
                      : bits >= 32                                ? 3
                      : bits >= 16                                ? 1
                                                                  : 0;
  known->empty = 0;
  for (i = 0; i < tensor->ndim; ++i) {
    known->dims[i] = tensor->shape[i];
    known->dims[kMaxDims + i] = tensor->strides[i];
    if (tensor->shape[i] == 0) known->empty = 1;
  }
  RememberReach(known, tensor);
  return 1;
}

static int HasAddresses(KpDLDevice device) {
  return device.device_type == KP_DEVICE_CPU || device.device_type == KP_DEVICE_CUDA;
}

void kpy_memo_note(const KpyFunction* f, const KpyTypedCall* t) {
  KpyMemo* memo = t->local->memo;
  int32_t i;
  memo->filled = 0;
  for (i = 0; i < f->num_params; ++i) {
    if (!Remember(&memo->params[i], &t->values[i])) return;
    /* Elsewhere an address may be a handle, which says nothing of what overlaps. */
    if (memo->num_written > 0 && memo->params[i].is_tensor && !HasAddresses(memo->params[i].device)) return;
  }
  for (i = 0; i < f->num_results; ++i) {
    const KpDLTensor* prototype = &t->prototypes[i];
    if (prototype->ndim > kMaxDims) return;
    memo->prototypes[i] = *prototype;
    memcpy(memo->result_dims[i], prototype->shape, (size_t)prototype->ndim * sizeof(int64_t));
    memcpy(memo->result_dims[i] + kMaxDims, prototype->strides, (size_t)prototype->ndim * sizeof(int64_t));
  }
  memo->device = t->device;
  memo->filled = 1;
}
