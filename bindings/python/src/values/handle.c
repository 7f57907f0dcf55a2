/* kernpack.Object: a host object that Python has no better form for. FUNCTION objects can be called. */
#include "callback.h"
#include "classes.h"
#include "python/errors.h"
#include "call/frame.h"
#include "values.h"

typedef struct KpyHandle {
  PyObject_HEAD KpObject* object; /* owned */
  PyObject* callback; /* of a FUNCTION that Python made; NULL: it is none */
} KpyHandle;

static PyTypeObject* g_type;

PyObject* kpy_handle_new(KpObject* object) {
  KpyHandle* self = (KpyHandle*)PyType_GenericAlloc(g_type, 0);
  if (self == NULL) return NULL;
  kp_retain(object);
  self->object = object;
  if (object->type_index == KP_TYPE_FUNCTION) self->callback = kpy_callback_share(object);
  return (PyObject*)self;
}

static int ConvertHandle(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)call, (void)slot;
  out->v.v_obj = ((KpyHandle*)object)->object;
  out->type_index = out->v.v_obj->type_index;
  out->small_len = 0;
  return KPY_OK;
}

int kpy_resolve_handle(PyObject* object, KpySlot* out) {
  if (Py_TYPE(object) != g_type) return 0;
  out->convert = ConvertHandle;
  return 1;
}

/* Cycles go through a callback, which can be cleared. */
static int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT((PyObject*)Py_TYPE(self));
  Py_VISIT(((KpyHandle*)self)->callback);
  return 0;
}

static void Dealloc(PyObject* object) {
  KpyHandle* self = (KpyHandle*)object;
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self->callback != NULL) kpy_callback_let_go(self->callback);
  kp_release(self->object);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF((PyObject*)type);
}

static PyObject* Repr(PyObject* self) {
  return PyUnicode_FromFormat("<kernpack.Object %s>", kp_type_name(((KpyHandle*)self)->object->type_index));
}

static PyObject* GetTypeName(PyObject* self, void* unused) {
  (void)unused;
  return PyUnicode_FromString(kp_type_name(((KpyHandle*)self)->object->type_index));
}

static int CallFunction(KpObject* function, PyObject* args, KpAny* result) {
  Py_ssize_t i, count = PyTuple_Size(args);
  KpAny* values = (KpAny*)PyMem_Calloc((size_t)count + 1, sizeof(KpAny));
  PyThreadState* thread;
  int rc = 0;
  if (values == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (i = 0; rc == 0 && i < count; ++i) rc = kpy_to_any(PyTuple_GetItem(args, i), "argument", &values[i]);
  if (rc == 0) {
    *result = kp_none();
    thread = PyEval_SaveThread();
    rc = kp_function_call(function, values, (int32_t)count, result);
    PyEval_RestoreThread(thread);
    if (rc != 0) (void)kpy_raise_host("function", rc);
  }
  for (i = 0; i < count; ++i) kp_any_release(&values[i]);
  PyMem_Free(values);
  return rc;
}

static PyObject* Call(PyObject* self, PyObject* args, PyObject* kwargs) {
  KpObject* object = ((KpyHandle*)self)->object;
  PyObject* answer;
  KpAny result;
  if (object->type_index != KP_TYPE_FUNCTION) {
    return PyErr_Format(PyExc_TypeError, "a kernpack.Object of type %s cannot be called",
                        kp_type_name(object->type_index));
  }
  if (kwargs != NULL && PyDict_Size(kwargs) > 0) {
    PyErr_SetString(PyExc_TypeError, "a function value takes no keyword arguments");
    return NULL;
  }
  if (CallFunction(object, args, &result) != 0) return NULL;
  answer = kpy_to_python(&result, NULL);
  kp_any_release(&result);
  return answer;
}

static PyObject* Capsule(PyObject* self, PyObject* unused) {
  (void)unused;
  return kpy_object_capsule(((KpyHandle*)self)->object);
}

int kpy_handle_init(PyObject* module) {
  static PyMethodDef methods[] = {
      {"__kernpack_object__", Capsule, METH_NOARGS, "A capsule \"kernpack.object\" that holds a reference to it."},
      {NULL, NULL, 0, NULL}};
  static PyGetSetDef getset[] = {{"type_name", GetTypeName, NULL, "The host's name of the object's type.", NULL},
                                 {NULL, NULL, NULL, NULL, NULL}};
  PyType_Slot slots[] = {{Py_tp_dealloc, (void*)Dealloc},
                         {Py_tp_traverse, (void*)Traverse},
                         {Py_tp_repr, (void*)Repr},
                         {Py_tp_call, (void*)Call},
                         {Py_tp_getset, getset},
                         {Py_tp_methods, methods},
                         {Py_tp_doc, "A host object; functions among them can be called."},
                         {0, NULL}};
  PyType_Spec spec = {"kernpack.Object", sizeof(KpyHandle), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  g_type = (PyTypeObject*)PyType_FromSpec(&spec);
  return g_type == NULL ? -1 : PyModule_AddObjectRef(module, "Object", (PyObject*)g_type);
}
