/* The floor: empty functions in CPython's fastest calling convention, which look at none of their arguments; one lets go of
 * the GIL and takes it again. */
#include <Python.h>

static PyObject* Nothing(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self, (void)args, (void)nargs;
  Py_RETURN_NONE;
}

static PyObject* NothingReleased(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  PyThreadState* thread = PyEval_SaveThread();
  (void)self, (void)args, (void)nargs;
  PyEval_RestoreThread(thread);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"nothing", (PyCFunction)(void (*)(void))Nothing, METH_FASTCALL, ""},
                                {"nothing_released", (PyCFunction)(void (*)(void))NothingReleased, METH_FASTCALL, ""},
                                {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "floor_bench", "", -1, methods, 0, 0, 0, 0};

PyMODINIT_FUNC PyInit_floor_bench(void) { return PyModule_Create(&module); }
