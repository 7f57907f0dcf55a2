/* One call in progress. */
#ifndef KERNPACK_PYTHON_CALL_FRAME_H_
#define KERNPACK_PYTHON_CALL_FRAME_H_

#include "values/convert.h"
#include "values/family.h"
#include "function.h"

/* References and buffers to release when the call ends. */
typedef struct KpyKeep {
  void* what;
  void (*release)(void* what);
} KpyKeep;

/* One call in progress; on the C stack, hot fields first. Nothing here is initialised but what kpy_call_begin sets. */
struct KpyCall {
  KpyFunction* function;
  const KpyFamily* family; /* of the first tensor argument; NULL: none yet */
  const char* argument; /* name of what is being converted */
  uint32_t flags; /* KpParamFlags of what is being converted */
  uint32_t kind; /* KpParamKind, or KPY_KIND_ANY */
  int32_t position; /* of what is being converted */
  int32_t num_tensors;
  int32_t num_dims;
  int32_t num_keeps;
  int32_t own_tensors; /* tensors must be owning TENSOR objects */
  uint8_t torch_checked; /* the guards of the call as a whole ran */
  uint8_t torch_autograd_asked; /* the one below is known */
  uint8_t torch_grad_mode;
  uint8_t torch_no_tangents; /* no level of forward mode is open; 0: not asked, or one is */
  int32_t has_stream;
  KpDLDevice device; /* of stream */
  void* stream;
  KpyKeep* keeps_more; /* heap, when the inline ones ran out; capacity keeps_capacity */
  int32_t keeps_capacity;
  const char* divert; /* why the fast path must not take the call */
  PyObject* divert_hook; /* who takes it, held until the call ends; NULL: nobody */
  int divert_as_given; /* divert_hook takes what the caller gave, not (function, args, kwargs, why) */
  void* results[KP_SIG_MAX_RESULTS]; /* the family's own */
  KpDLTensor tensors[KPY_INLINE_VALUES];
  KpyKeep keeps[KPY_INLINE_VALUES];
  int64_t dims[KPY_INLINE_VALUES * 8];
};

#define KPY_KIND_ANY 0xffu

static inline void kpy_call_begin(KpyCall* call, KpyFunction* function) {
  call->function = function;
  call->family = NULL;
  call->num_tensors = 0;
  call->num_dims = 0;
  call->num_keeps = 0;
  call->own_tensors = 0;
  call->torch_checked = 0;
  call->torch_autograd_asked = 0;
  call->torch_no_tangents = 0;
  call->has_stream = 0;
  call->device.device_type = 0;
  call->device.device_id = 0;
  call->stream = NULL;
  call->keeps_more = NULL;
  call->keeps_capacity = 0;
  call->divert = NULL;
  call->divert_hook = NULL;
}

/* The names of the function and of the argument that is being converted, for errors. */
static inline const char* kpy_who(const KpyCall* call) { return call->function ? call->function->name : "kernpack"; }
static inline const char* kpy_what(const KpyCall* call) { return call->argument ? call->argument : "argument"; }

/* frame.c */
KPY_HIDDEN void kpy_call_end(KpyCall* call);
/* Runs release(what) when the call ends; on failure runs it at once. */
KPY_HIDDEN int kpy_call_keep(KpyCall* call, void* what, void (*release)(void* what));
KPY_HIDDEN int kpy_call_keep_object(KpyCall* call, PyObject* stolen);
KPY_HIDDEN int kpy_call_keep_any(KpyCall* call, const KpAny* owned); /* a host value */
KPY_HIDDEN void* kpy_call_memory(KpyCall* call, size_t bytes); /* from the heap, until the call ends; NULL on failure */
/* Memory for a tensor view, or for `count` extents, until the call ends; NULL on failure. */
static inline KpDLTensor* kpy_call_tensor(KpyCall* call) {
  if (KPY_LIKELY(call->num_tensors < KPY_INLINE_VALUES)) return &call->tensors[call->num_tensors++];
  return (KpDLTensor*)kpy_call_memory(call, sizeof(KpDLTensor));
}
static inline int64_t* kpy_call_dims(KpyCall* call, int32_t count) {
  if (KPY_LIKELY(call->num_dims + count <= KPY_INLINE_VALUES * 8)) {
    int64_t* dims = &call->dims[call->num_dims];
    call->num_dims += count;
    return dims;
  }
  return (int64_t*)kpy_call_memory(call, (size_t)count * sizeof(int64_t));
}

#endif /* KERNPACK_PYTHON_CALL_FRAME_H_ */
