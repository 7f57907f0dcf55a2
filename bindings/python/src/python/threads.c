#include "threads.h"

PyObject* kpy_dict_get_text(PyObject* dict, const char* key) {
  PyObject* name = PyUnicode_FromString(key);
  PyObject* found = name == NULL ? NULL : kpy_dict_get(dict, name);
  Py_XDECREF(name);
  if (found == NULL) PyErr_Clear();
  return found;
}

#ifdef Py_GIL_DISABLED

/* A thread that waits lets the garbage collector go on. */
static PyMutex g_lock;

void kpy_lock(void) { PyMutex_Lock(&g_lock); }
void kpy_unlock(void) { PyMutex_Unlock(&g_lock); }

void kpy_lock_forget(void) {
  const PyMutex open = {0};
  g_lock = open;
}

#endif
