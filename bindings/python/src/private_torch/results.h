/* The Python object of a new tensor, made by torch's own C++ function. */
#ifndef KERNPACK_PYTHON_PRIVATE_TORCH_RESULTS_H_
#define KERNPACK_PYTHON_PRIVATE_TORCH_RESULTS_H_

#include "private_torch/switch.h"

typedef struct KpyTorchHandle KpyTorchHandle; /* AtenTensorHandle: owns an at::Tensor */

/* THPVariable_Wrap(const at::TensorBase&): a new reference to an object with its own reference to the tensor. NULL: not to be used. */
typedef PyObject* (*KpyTorchWrap)(const KpyTorchHandle* tensor);
KPY_HIDDEN KpyTorchWrap kpy_torch_find_wrap(void);

#endif /* KERNPACK_PYTHON_PRIVATE_TORCH_RESULTS_H_ */
