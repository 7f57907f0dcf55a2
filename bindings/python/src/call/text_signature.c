/* Writes the text signature from the contract. */
#include "function.h"
#include "values/values.h"

#include <math.h>
#include <string.h>

/* A default as Python source that ast.literal_eval and inspect both take. */
static PyObject* DefaultSource(const KpAny* value) {
  PyObject *object, *source;
  if (value->type_index == KP_TYPE_FLOAT && !isfinite(value->v.v_float)) {
    return PyUnicode_FromString(isnan(value->v.v_float) ? "1e999-1e999" : value->v.v_float < 0 ? "-1e999" : "1e999");
  }
  if (value->type_index == KP_TYPE_DTYPE) return PyUnicode_FromFormat("'%s'", kp_dtype_name(value->v.v_dtype));
  object = kpy_to_python(value, NULL);
  source = object == NULL ? NULL : PyObject_Repr(object);
  Py_XDECREF(object);
  return source;
}

/* text + piece, consuming both; NULL when either is. */
static PyObject* Join(PyObject* text, PyObject* piece) {
  PyObject* joined = text == NULL || piece == NULL ? NULL : PyUnicode_Concat(text, piece);
  Py_XDECREF(text);
  Py_XDECREF(piece);
  return joined;
}

static PyObject* ParameterSource(const KpyParam* param) {
  PyObject *source, *text;
  if (!param->has_default) return PyUnicode_FromFormat(", %U", param->name);
  source = DefaultSource(&param->default_value);
  text = source == NULL ? NULL : PyUnicode_FromFormat(", %U=%U", param->name, source);
  Py_XDECREF(source);
  return text;
}

static PyObject* TypedParameters(KpyFunction* f) {
  PyObject* text = PyUnicode_FromString("");
  int32_t i;
  int takes_destinations = f->num_returned > 0; /* no: a parameter is called out */
  for (i = 0; text != NULL && i < f->num_params; ++i) {
    if (PyUnicode_CompareWithASCIIString(f->params[i].name, "out") == 0) takes_destinations = 0;
    if (i == f->num_positional) text = Join(text, PyUnicode_FromString(", *"));
    text = Join(text, ParameterSource(&f->params[i]));
  }
  if (takes_destinations) {
    text = Join(text, PyUnicode_FromString(f->num_positional == f->num_params ? ", *, out=None" : ", out=None"));
  }
  return text;
}

static PyObject* Description(KpyFunction* f) {
  const char* doc = f->loaded->doc;
  const char* gap = doc != NULL && *doc ? "\n\n" : "";
  if (f->program != NULL) {
    return PyUnicode_FromFormat("%s%s%s%s", doc ? doc : "", gap, f->name, kp_signature_text(f->loaded->signature));
  }
  return PyUnicode_FromFormat("%s%s%s%s", doc ? doc : "", gap, f->name,
                              f->loaded->cxx_types ? f->loaded->cxx_types : "(*args)");
}

char* kpy_text_signature(KpyFunction* f) {
  PyObject* params = f->program == NULL ? PyUnicode_FromString(", *args") : TypedParameters(f);
  PyObject* description = Description(f);
  PyObject* text = NULL;
  const char* bytes;
  char* copy = NULL;
  Py_ssize_t size;
  if (params != NULL && description != NULL) {
    text = PyUnicode_FromFormat("%s($self%U)\n--\n\n%U", f->name, params, description);
  }
  Py_XDECREF(params);
  Py_XDECREF(description);
  bytes = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes != NULL) {
    copy = (char*)PyMem_Malloc((size_t)size + 1);
    if (copy != NULL) memcpy(copy, bytes, (size_t)size + 1);
    if (copy == NULL) PyErr_NoMemory();
  }
  Py_XDECREF(text);
  return copy;
}
