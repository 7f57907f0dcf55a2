/* kernpack.Tensor, as the files that implement it see it. */
#ifndef KERNPACK_PYTHON_VALUES_TENSOR_H_
#define KERNPACK_PYTHON_VALUES_TENSOR_H_

#include "python/base.h"

typedef struct KpyTensor {
  PyObject_HEAD KpTensorObject* tensor; /* owned; of a borrowed tensor without its memory */
  Py_ssize_t exports;     /* atomic: buffers, capsules and calls that use it; -1 once a borrowed tensor has expired */
  int borrowed;           /* memory belongs to a caller who takes it back when a callback returns */
  int read_only;          /* as the TENSOR's flags say */
} KpyTensor;

/* Keeps a borrowed tensor from expiring until it is returned. 0, or -1 with an error: it has expired. */
KPY_HIDDEN int kpy_tensor_lend(KpyTensor* tensor);
static inline void kpy_tensor_return(KpyTensor* tensor) {
  (void)__atomic_sub_fetch(&tensor->exports, 1, __ATOMIC_ACQ_REL);
}
/* The view, or NULL with an error when expired. */
KPY_HIDDEN const KpDLTensor* kpy_tensor_view(PyObject* self);
/* An owned TENSOR to hand to another library: the tensor itself, or, of a borrowed one, a stand-in that counts as an export
 * until it is released. 0, or -1 with a Python exception set. */
KPY_HIDDEN int kpy_tensor_export(PyObject* self, KpAny* out);

/* tensor_protocols.c */
/* Refuses handles that mean nothing outside; makes the consumer's stream (nullable) wait. 0, or -1 with an exception set. */
KPY_HIDDEN int kpy_tensor_prepare_export(const KpDLTensor* view, PyObject* stream);
KPY_HIDDEN PyObject* kpy_tensor_dlpack(PyObject* self, PyObject* args, PyObject* kwargs);
KPY_HIDDEN PyObject* kpy_tensor_dlpack_device(PyObject* self, PyObject* unused);
KPY_HIDDEN int kpy_tensor_get_buffer(PyObject* self, Py_buffer* buffer, int flags);
KPY_HIDDEN void kpy_tensor_release_buffer(PyObject* self, Py_buffer* buffer);

#endif /* KERNPACK_PYTHON_VALUES_TENSOR_H_ */
