/* Calls whose arguments are all plain numbers (or none at all): nothing is borrowed, so there is nothing to hold, note or let
 * go, and the call goes straight to the kernel. */
#ifndef KERNPACK_PYTHON_CALL_CALL_NUMBERS_H_
#define KERNPACK_PYTHON_CALL_CALL_NUMBERS_H_

#include "call_context.h"
#include "python/errors.h"

enum { KPY_FEW_NUMBERS = 8 };

/* An int of 64 bits, a float or a bool, of exactly these types: 1. Anything else: 0, no error set. */
static inline int kpy_number(PyObject* object, KpAny* out) {
  PyTypeObject* type = Py_TYPE(object);
  out->small_len = 0;
  if (KPY_LIKELY(type == &PyLong_Type)) {
    int overflow;
    out->type_index = KP_TYPE_INT;
    out->v.v_int = PyLong_AsLongLongAndOverflow(object, &overflow);
    return KPY_LIKELY(overflow == 0);
  }
  if (type == &PyFloat_Type) {
    out->type_index = KP_TYPE_FLOAT;
    out->v.v_float = PyFloat_AsDouble(object);
    return 1;
  }
  out->type_index = KP_TYPE_BOOL;
  out->v.v_int = object == Py_True;
  return object == Py_True || object == Py_False;
}

/* Converts the value that a function returned into a Python object, and releases the value. `family` (nullable) owns a tensor. */
KPY_HIDDEN PyObject* kpy_take_result(const KpyFunction* f, KpAny* result, const KpyFamily* family);

/* On the CPU, which has a target. */
static inline PyObject* kpy_call_numbers(const KpyFunction* f, const KpyTarget* target, const KpAny* values,
                                         int32_t count) {
  KpAny result = kp_none();
  const int rc = kpy_run(f, target->call, target->self, values, count, &result);
  if (KPY_UNLIKELY(rc != 0)) return kpy_raise_host(f->name, rc);
  if (KPY_LIKELY(result.type_index == KP_TYPE_NONE)) Py_RETURN_NONE;
  return kpy_take_result(f, &result, NULL);
}

#endif /* KERNPACK_PYTHON_CALL_CALL_NUMBERS_H_ */
