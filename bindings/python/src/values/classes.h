/* The Python classes of the core. Each *_init adds its type to the module. */
#ifndef KERNPACK_PYTHON_VALUES_CLASSES_H_
#define KERNPACK_PYTHON_VALUES_CLASSES_H_

#include "python/base.h"

KPY_HIDDEN PyObject* kpy_tensor_from_object(KpObject* tensor); /* borrowed; a new kernpack.Tensor */
KPY_HIDDEN PyObject* kpy_tensor_new_borrowed(const KpDLTensor* view);
KPY_HIDDEN int kpy_tensor_expire(PyObject* tensor);
KPY_HIDDEN int kpy_is_tensor(PyObject* object);
KPY_HIDDEN KpObject* kpy_tensor_object(PyObject* tensor); /* borrowed; NULL with an error: expired or no Tensor */
KPY_HIDDEN int kpy_tensor_keep(PyObject* tensor, KpAny* out); /* an owned TENSOR: the tensor's own */
KPY_HIDDEN int kpy_tensor_init(PyObject* module);
KPY_HIDDEN PyObject* kpy_tensor_exchange_capsule(void);
KPY_HIDDEN PyObject* kpy_device_new(KpDLDevice device);
KPY_HIDDEN int kpy_device_from(PyObject* object, KpDLDevice* out); /* 1, 0: no device, -1 */
KPY_HIDDEN int kpy_device_init(PyObject* module);
KPY_HIDDEN PyObject* kpy_dtype_new(KpDLDataType dtype);
KPY_HIDDEN int kpy_dtype_from(PyObject* object, KpDLDataType* out); /* 1, 0: no dtype, -1 */
KPY_HIDDEN int kpy_dtype_init(PyObject* module);
KPY_HIDDEN PyObject* kpy_handle_new(KpObject* object); /* borrowed; a kernpack.Object */
KPY_HIDDEN int kpy_handle_init(PyObject* module);
/* object_class.c: a capsule with a reference to the object; the object as its class has it, else as a kernpack.Object. */
KPY_HIDDEN PyObject* kpy_object_capsule(KpObject* object);
KPY_HIDDEN PyObject* kpy_object_wrap(KpObject* object);
KPY_HIDDEN int kpy_object_class_init(void);

#endif /* KERNPACK_PYTHON_VALUES_CLASSES_H_ */
