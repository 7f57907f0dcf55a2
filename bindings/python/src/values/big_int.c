/* Python ints outside 64 bits, which apache-tvm-ffi's BigInt holds: words of 64 bits, the least significant first. */
#include <string.h>

#include "python/errors.h"
#include "python/hooks.h"
#include "values.h"

enum { kWordBytes = 8 };

PyObject* kpy_from_big_int(const KpAny* value) {
  const int64_t* words;
  size_t count;
  PyObject *bytes, *number;
  if (kp_big_int_words(value, &words, &count) != 0) return kpy_raise_host("int", -1);
  bytes = PyBytes_FromStringAndSize((const char*)words, (Py_ssize_t)(count * kWordBytes));
  number = bytes == NULL ? NULL : kpy_helper("int_of_words", "(O)", bytes);
  Py_XDECREF(bytes);
  return number;
}

int kpy_to_big_int(PyObject* object, KpAny* out) {
  PyObject* bytes = kpy_helper("words_of_int", "(O)", object);
  int64_t* words;
  Py_ssize_t size;
  char* data;
  int rc = -1;
  if (bytes == NULL) return -1;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) != 0) {
    Py_DECREF(bytes);
    return -1;
  }
  words = (int64_t*)PyMem_Malloc((size_t)size); /* aligned, as a bytes object is not */
  if (words == NULL) {
    PyErr_NoMemory();
  } else {
    memcpy(words, data, (size_t)size);
    rc = kp_big_int_new(words, (size_t)size / kWordBytes, out);
    if (rc != 0) (void)kpy_raise_host("int", -1);
    PyMem_Free(words);
  }
  Py_DECREF(bytes);
  return rc;
}
