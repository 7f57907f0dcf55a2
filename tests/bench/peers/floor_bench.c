/* The floor: an empty function in CPython's fastest calling convention, which looks at none of its arguments. */
#include <Python.h>

static PyObject* Nothing(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self, (void)args, (void)nargs;
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"nothing", (PyCFunction)(void (*)(void))Nothing, METH_FASTCALL, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "floor_bench", "", -1, methods, 0, 0, 0, 0};

PyMODINIT_FUNC PyInit_floor_bench(void) { return PyModule_Create(&module); }
