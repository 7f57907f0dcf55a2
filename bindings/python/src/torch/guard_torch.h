/* Finds torch tensors that can't be read directly. */
#ifndef KERNPACK_PYTHON_TORCH_GUARD_TORCH_H_
#define KERNPACK_PYTHON_TORCH_GUARD_TORCH_H_

#include "python/base.h"
#include "call/frame.h"
#include "private_torch/fields.h"

/* Functions of a loaded torch's libraries that the call core uses without Python. They are found by name, and each is optional. torch
 * promises only the functions of its C shim, aoti_*; C++ names are used in private_torch/ only. */
/* NULL when no library of torch's that is loaded has it. */
KPY_HIDDEN void* kpy_torch_symbol(const char* name);

/* Looks up torch's own C functions, once. 0, or -1 with an error: this torch lacks one of them. */
KPY_HIDDEN int kpy_torch_init(PyObject* torch);
/* torch.Tensor, borrowed; after kpy_torch_init. */
KPY_HIDDEN PyTypeObject* kpy_torch_tensor_type(void);
/* 1 when type is exactly torch.Tensor or torch.nn.Parameter. */
KPY_HIDDEN int kpy_torch_is_plain(PyTypeObject* type);
/* 1 for a torch.dtype or torch.device. */
KPY_HIDDEN int kpy_torch_is_own_value(PyObject* object);
/* The guards of the call as a whole. KPY_OK, or KPY_DIVERT with the reason noted. */
KPY_HIDDEN int kpy_torch_guard_call(KpyCall* call);
/* The guards of one tensor, all asked of torch. `view` is what the exchange table said of `tensor`. KPY_OK, or KPY_DIVERT
 * with the reason noted. */
KPY_HIDDEN int kpy_torch_guard(KpyCall* call, PyObject* tensor, const KpDLTensor* view);

/* For what torch's exchange table may describe as another dtype: it says u8 of torch.uint4. KPY_OK, or KPY_ERROR with a TypeError. */
KPY_HIDDEN int kpy_torch_check_dtype(KpyCall* call, PyObject* tensor, const KpDLTensor* view);
static inline int kpy_torch_dtype_is_sure(const KpDLTensor* view) {
  return (view->dtype.bits != 8 || view->dtype.code > KP_DTYPE_UINT) && view->dtype.lanes == 1;
}

/* The kernel will write to it: autograd learns so from the version counter. 0, or -1 with torch's error. */
KPY_HIDDEN int kpy_torch_note_write(PyObject* tensor);

/* 0 if nothing watches calls in this thread but autograd and profilers: no mode, transform or trace. 1 may be wrong. */
KPY_HIDDEN int kpy_torch_is_watched(void);
/* True if grad mode is on in this thread; true if a tensor requires a gradient. */
KPY_HIDDEN int kpy_torch_records(void);
KPY_HIDDEN int kpy_torch_requires_grad(PyObject* tensor);
/* 0 if none of the tensors carries a tangent; 1 may be wrong. Objects that aren't tensors have no tangent. */
KPY_HIDDEN int kpy_torch_any_tangent(PyObject* const* objects, Py_ssize_t count);

/* Asks torch, once per call, if grad mode is on. */
KPY_HIDDEN void kpy_torch_ask_autograd(KpyCall* call);
static inline int kpy_torch_grad_mode(KpyCall* call) {
  if (!call->torch_autograd_asked) kpy_torch_ask_autograd(call);
  return call->torch_grad_mode;
}

/* 1: surely plain, for a few loads and compares; 0: ask kpy_torch_guard. Memory is still to be checked. */
static inline int kpy_torch_looks_plain(KpyCall* call, PyObject* tensor) {
  if (KPY_UNLIKELY(!kpy_torch_fields_known()) || KPY_UNLIKELY(!kpy_torch_has_plain_keys(tensor))) return 0;
  if (KPY_LIKELY(!kpy_torch_has_autograd(tensor))) return 1;
  return !kpy_torch_may_have_tangent(tensor) && !kpy_torch_grad_mode(call);
}

#endif /* KERNPACK_PYTHON_TORCH_GUARD_TORCH_H_ */
