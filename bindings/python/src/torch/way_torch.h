/* Which way a call takes that torch must see. */
#ifndef KERNPACK_PYTHON_TORCH_WAY_TORCH_H_
#define KERNPACK_PYTHON_TORCH_WAY_TORCH_H_

#include "python/base.h"

typedef enum KpyTorchWay {
  KPY_TORCH_ASK, /* the whole dispatcher: something may follow the call that only torch knows */
  KPY_TORCH_BELOW, /* the dispatcher below autograd, which has nothing to record */
  KPY_TORCH_RECORD /* a gradient is recorded, and nothing else follows the call */
} KpyTorchWay;

/* 1: no level of forward mode is open, so that no tensor has a tangent; 0 may be wrong. */
KPY_HIDDEN int kpy_torch_no_level_open(PyObject* tensor);
/* 1: that answer counts all levels, and no tensor is needed to ask. 0: it doesn't count those that compiled programs open behind
 * Python's back, and call operators by name in. */
KPY_HIDDEN int kpy_torch_levels_are_told(void);

/* Of a call with these objects where tensors are expected. Never fails: where torch raises, the dispatcher is asked. */
KPY_HIDDEN KpyTorchWay kpy_torch_way(PyObject* const* objects, Py_ssize_t count);

/* The same without the hooks, of a call whose tensors are all torch's own: the first of them, and if one requires a gradient. */
KPY_HIDDEN KpyTorchWay kpy_torch_way_of(PyObject* first, int requires_grad);

#endif /* KERNPACK_PYTHON_TORCH_WAY_TORCH_H_ */
