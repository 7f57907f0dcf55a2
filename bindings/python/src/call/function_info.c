/* The attributes of a FunctionInfo in Python. */
#include "python/errors.h"
#include "function.h"
#include "values/values.h"

#include <string.h>

static PyTypeObject* g_type;

static PyObject* TextOrNone(const char* text) {
  if (text == NULL) Py_RETURN_NONE;
  return PyUnicode_FromString(text);
}

static const KpLoadedFunction* Loaded(PyObject* self) { return ((KpyFunction*)self)->loaded; }

static PyObject* GetName(PyObject* self, void* unused) {
  (void)unused;
  return TextOrNone(Loaded(self)->name);
}

static PyObject* GetModuleName(PyObject* self, void* unused) {
  (void)unused;
  return TextOrNone(Loaded(self)->module_name);
}

static PyObject* GetText(PyObject* self, void* unused) {
  const KpSignature* signature = Loaded(self)->signature;
  (void)unused;
  return TextOrNone(signature == NULL ? NULL : kp_signature_text(signature));
}

static PyObject* GetDoc(PyObject* self, void* unused) {
  (void)unused;
  return TextOrNone(Loaded(self)->doc);
}

static PyObject* GetCxxTypes(PyObject* self, void* unused) {
  (void)unused;
  return TextOrNone(Loaded(self)->cxx_types);
}

/* A dict of its own for each who asks. The host has looked at the text: lines of key=value. */
static PyObject* GetAttributes(PyObject* self, void* unused) {
  const char* at = Loaded(self)->attributes;
  PyObject* all = PyDict_New();
  (void)unused;
  while (all != NULL && at != NULL && *at != 0) {
    const char* equals = strchr(at, '=');
    const size_t length = strcspn(equals + 1, "\n");
    PyObject* key = PyUnicode_FromStringAndSize(at, equals - at);
    PyObject* value = PyUnicode_FromStringAndSize(equals + 1, (Py_ssize_t)length);
    if (key == NULL || value == NULL || PyDict_SetItem(all, key, value) != 0) Py_CLEAR(all);
    Py_XDECREF(key);
    Py_XDECREF(value);
    at = equals + 1 + length;
    if (*at == '\n') ++at;
  }
  return all;
}

static PyObject* GetCallable(PyObject* self, void* unused) {
  PyObject* callable = ((KpyFunction*)self)->callable;
  (void)unused;
  Py_INCREF(callable);
  return callable;
}

static PyObject* GetHandle(PyObject* self, void* unused) {
  (void)unused;
  return PyLong_FromVoidPtr((void*)(uintptr_t)Loaded(self));
}

static PyObject* GetDigest(PyObject* self, void* unused) {
  (void)unused;
  return TextOrNone(kp_module_digest(Loaded(self)->module));
}

static PyObject* TakeText(int rc, KpAny* owned) {
  PyObject* text;
  if (rc != 0) return kpy_raise_host("kernpack", rc);
  text = kpy_to_python(owned, NULL);
  kp_any_release(owned);
  return text;
}

static PyObject* SignatureJson(PyObject* self, PyObject* unused) {
  KpAny json = kp_none();
  (void)unused;
  if (Loaded(self)->signature == NULL) Py_RETURN_NONE;
  return TakeText(kp_signature_json(Loaded(self)->signature, &json), &json);
}

static PyObject* VariantsJson(PyObject* self, PyObject* unused) {
  KpAny json = kp_none();
  (void)unused;
  return TakeText(kp_function_variants(Loaded(self), &json), &json);
}

/* ((name, kind, flags, has_default, default), ...) in parameter order. */
static PyObject* GetParameters(PyObject* self, void* unused) {
  KpyFunction* f = (KpyFunction*)self;
  PyObject* tuple = PyTuple_New(f->num_params);
  int32_t i;
  (void)unused;
  for (i = 0; tuple != NULL && i < f->num_params; ++i) {
    const KpyParam* param = &f->params[i];
    PyObject* value = kpy_to_python(&param->default_value, NULL);
    PyObject* row = value == NULL ? NULL
                                  : Py_BuildValue("(OIIiN)", param->name, param->kind, param->flags,
                                                  (int)param->has_default, value);
    if (row == NULL || PyTuple_SetItem(tuple, i, row) != 0) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  return tuple;
}

/* _bind(args tuple, kwargs dict): one value per parameter, defaults filled in, as the call itself would bind them. For the
 * frameworks' own paths (kernpack.jax), which have no destinations. */
static PyObject* Bind(PyObject* self, PyObject* arguments) {
  KpyFunction* f = (KpyFunction*)self;
  PyObject *args, *kwargs, *out = NULL, *list = NULL;
  PyObject* given[2 * KP_SIG_MAX_PARAMS];
  PyObject* values[KP_SIG_MAX_PARAMS];
  Py_ssize_t nargs, keywords, i, cursor = 0, n = 0;
  PyObject* names;
  if (!PyArg_ParseTuple(arguments, "O!O!:_bind", &PyTuple_Type, &args, &PyDict_Type, &kwargs)) return NULL;
  nargs = PyTuple_Size(args);
  keywords = PyDict_Size(kwargs);
  if (nargs > KP_SIG_MAX_PARAMS || keywords > KP_SIG_MAX_PARAMS) {
    return PyErr_Format(PyExc_TypeError, "%s: too many arguments", f->name);
  }
  names = PyTuple_New(keywords);
  if (names == NULL) return NULL;
  for (i = 0; i < nargs; ++i) given[n++] = PyTuple_GetItem(args, i);
  for (i = 0; i < keywords; ++i) {
    PyObject* name;
    PyDict_Next(kwargs, &cursor, &name, &given[n++]);
    Py_INCREF(name);
    PyTuple_SetItem(names, i, name);
  }
  if (kpy_bind(f, given, nargs, names, values, &out) != 0) goto done;
  if (out != NULL) {
    PyErr_Format(PyExc_TypeError, "%s: out: these arrays are immutable; use what the call returns", f->name);
    goto done;
  }
  list = PyList_New(f->num_params);
  for (i = 0; list != NULL && i < f->num_params; ++i) {
    PyObject* value = values[i];
    if (value == NULL) {
      value = kpy_to_python(&f->params[i].default_value, NULL);
    } else {
      Py_INCREF(value);
    }
    if (value == NULL || PyList_SetItem(list, i, value) != 0) Py_CLEAR(list);
  }
done:
  Py_DECREF(names);
  return list;
}

/* pickle reduces a builtin to getattr(info, name): an op's own name always finds the op. */
static PyObject* GetAttribute(PyObject* self, PyObject* name) {
  KpyFunction* f = (KpyFunction*)self;
  if (f->callable != NULL && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, f->name) == 0) {
    Py_INCREF(f->callable);
    return f->callable;
  }
  return PyObject_GenericGetAttr(self, name);
}

static PyMethodDef kMethods[] = {{"_signature_json", SignatureJson, METH_NOARGS, NULL},
                                 {"_variants_json", VariantsJson, METH_NOARGS, NULL},
                                 {"_bind", Bind, METH_VARARGS, NULL},
                                 {NULL, NULL, 0, NULL}};

static PyGetSetDef kGetSet[] = {
    {"name", GetName, NULL, "The function's name.", NULL},
    {"module_name", GetModuleName, NULL, "The name of its module.", NULL},
    {"text", GetText, NULL, "The contract as its author wrote it; None: untyped.", NULL},
    {"doc", GetDoc, NULL, "The author's description, or None.", NULL},
    {"attributes", GetAttributes, NULL, "Attributes that its author added, by key.", NULL},
    {"cxx_types", GetCxxTypes, NULL, "C++ types of an untyped function, or None.", NULL},
    {"callable", GetCallable, NULL, "The builtin that calls it.", NULL},
    {"parameters", GetParameters, NULL, "((name, kind, flags, has_default, default), ...)", NULL},
    {"digest", GetDigest, NULL, "Hash of the module's files, hex.", NULL},
    {"handle", GetHandle, NULL, "Address of the host's KpLoadedFunction; lives as long as the process.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

int kpy_function_init(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_methods, kMethods},
                         {Py_tp_getset, kGetSet},
                         {Py_tp_getattro, (void*)GetAttribute},
                         {Py_tp_doc, "One kernel function."},
                         {0, NULL}};
  PyType_Spec spec = {"kernpack._core.FunctionBase", sizeof(KpyFunction), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  g_type = (PyTypeObject*)PyType_FromSpec(&spec);
  return g_type == NULL ? -1 : PyModule_AddObjectRef(module, "FunctionBase", (PyObject*)g_type);
}

PyTypeObject* kpy_function_type(void) { return g_type; }
