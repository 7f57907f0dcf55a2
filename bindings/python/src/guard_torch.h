/* What a torch tensor must not be to be read directly. */
#ifndef KERNPACK_PYTHON_GUARD_TORCH_H_
#define KERNPACK_PYTHON_GUARD_TORCH_H_

#include "core.h"

/* Looks up torch's own C functions, once. 0, or -1 with an error: this torch lacks one of them. */
KPY_HIDDEN int kpy_torch_init(PyObject* torch);
/* 1 when type is exactly torch.Tensor or torch.nn.Parameter. */
KPY_HIDDEN int kpy_torch_is_plain(PyTypeObject* type);
/* KPY_OK, or KPY_DIVERT with the reason noted. `view` is what the exchange table said of `tensor`. */
KPY_HIDDEN int kpy_torch_guard(KpyCall* call, PyObject* tensor, const KpDLTensor* view);

#endif /* KERNPACK_PYTHON_GUARD_TORCH_H_ */
