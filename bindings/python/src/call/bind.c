/* Keywords, defaults, counts: the calls that are not one positional argument a parameter. Errors read like CPython's and
 * show the parameter list. */
#include <string.h>

#include "function.h"
#include "python/hooks.h"

PyObject* kpy_parameter_list(KpyFunction* f) {
  const char* open = strchr(f->doc, '(');
  const char* end = strstr(f->doc, ")\n--\n");
  const char* skip = "$self";
  PyObject *inner, *list;
  if (open == NULL || end == NULL) return PyUnicode_FromString("(*args)");
  ++open;
  if (strncmp(open, skip, strlen(skip)) == 0) open += strlen(skip);
  if (strncmp(open, ", ", 2) == 0) open += 2;
  inner = PyUnicode_FromStringAndSize(open, end - open);
  list = inner == NULL ? NULL : PyUnicode_FromFormat("(%U)", inner);
  Py_XDECREF(inner);
  return list;
}

/* Raises TypeError "<name>() <what>; it takes <parameters>". */
static int Refuse(KpyFunction* f, PyObject* what) {
  PyObject* list = what == NULL ? NULL : kpy_parameter_list(f);
  if (list != NULL) PyErr_Format(PyExc_TypeError, "%s() %U; it takes %U", f->name, what, list);
  Py_XDECREF(list);
  Py_XDECREF(what);
  return -1;
}

int32_t kpy_find_param(const KpyFunction* f, PyObject* name) {
  int32_t i;
  for (i = 0; i < f->num_params; ++i) {
    if (f->params[i].name == name) return i;
  }
  for (i = 0; i < f->num_params; ++i) {
    if (PyUnicode_Compare(f->params[i].name, name) == 0) return i;
  }
  return -1;
}

PyObject* kpy_parameter_names(const KpyFunction* f) {
  PyObject* names = PyTuple_New(f->num_params);
  int32_t i;
  for (i = 0; names != NULL && i < f->num_params; ++i) {
    Py_INCREF(f->params[i].name);
    PyTuple_SetItem(names, i, f->params[i].name);
  }
  return names;
}

/* Names the parameter that may have been meant. */
static int Unexpected(KpyFunction* f, PyObject* name) {
  PyObject *what, *names = kpy_parameter_names(f);
  what = names == NULL ? NULL : kpy_helper("unexpected_keyword", "(OO)", name, names);
  Py_XDECREF(names);
  return Refuse(f, what);
}

static int BindKeyword(KpyFunction* f, PyObject* name, PyObject* value, PyObject** values, PyObject** out) {
  int32_t i = kpy_find_param(f, name);
  if (i < 0) {
    if (f->num_returned > 0 && PyUnicode_CompareWithASCIIString(name, "out") == 0) {
      *out = value == Py_None ? NULL : value;
      return 0;
    }
    return Unexpected(f, name);
  }
  if (values[i] != NULL) return Refuse(f, PyUnicode_FromFormat("got multiple values for argument '%U'", name));
  values[i] = value;
  return 0;
}

/* "'a', 'b' and 'c'" of the parameters in [begin, end) that have neither value nor default; NULL: none (or an error). */
static PyObject* MissingNames(KpyFunction* f, PyObject** values, int32_t begin, int32_t end, int* count) {
  PyObject* text = NULL;
  int32_t i, last = -1;
  *count = 0;
  for (i = begin; i < end; ++i) {
    if (values[i] == NULL && !f->params[i].has_default) last = i, ++*count;
  }
  for (i = begin; last >= 0 && i <= last; ++i) {
    PyObject* longer;
    if (values[i] != NULL || f->params[i].has_default) continue;
    longer = text == NULL ? PyUnicode_FromFormat("'%U'", f->params[i].name)
                          : PyUnicode_FromFormat("%U%s'%U'", text, i == last ? " and " : ", ", f->params[i].name);
    Py_XDECREF(text);
    text = longer;
    if (text == NULL) return NULL;
  }
  return text;
}

static int CheckMissing(KpyFunction* f, PyObject** values, int32_t begin, int32_t end, const char* kind) {
  int count;
  PyObject *what, *names = MissingNames(f, values, begin, end, &count);
  if (count == 0) return 0;
  if (names == NULL) return -1;
  what = PyUnicode_FromFormat("missing %d required %s argument%s: %U", count, kind, count == 1 ? "" : "s", names);
  Py_DECREF(names);
  return Refuse(f, what);
}

int kpy_bind(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** values,
             PyObject** out) {
  const Py_ssize_t keywords = kwnames == NULL ? 0 : PyTuple_Size(kwnames);
  Py_ssize_t i;
  if (nargs > f->num_positional) {
    return Refuse(f, PyUnicode_FromFormat("takes %d positional argument%s but %zd %s given", (int)f->num_positional,
                                          f->num_positional == 1 ? "" : "s", nargs, nargs == 1 ? "was" : "were"));
  }
  for (i = 0; i < f->num_params; ++i) values[i] = i < nargs ? args[i] : NULL;
  for (i = 0; i < keywords; ++i) {
    if (BindKeyword(f, PyTuple_GetItem(kwnames, i), args[nargs + i], values, out) != 0) return -1;
  }
  if (CheckMissing(f, values, 0, f->num_positional, "positional") != 0) return -1;
  return CheckMissing(f, values, f->num_positional, f->num_params, "keyword-only");
}

int kpy_bind_destinations(KpyFunction* f, PyObject* out, PyObject** destinations) {
  Py_ssize_t count;
  int32_t i;
  for (i = 0; i < f->num_results; ++i) destinations[i] = NULL;
  if (!PyTuple_Check(out)) {
    if (f->num_returned == 1) {
      destinations[f->returned[0]] = out;
      return f->num_returned;
    }
    PyObject* type = PyType_GetName(Py_TYPE(out));
    if (type != NULL) {
      PyErr_Format(PyExc_TypeError, "%s: out: expected a tuple of %d tensors, got %U", f->name, (int)f->num_returned,
                   type);
    }
    Py_XDECREF(type);
    return -1;
  }
  count = PyTuple_Size(out);
  if (count != f->num_returned && count != f->num_results) {
    PyObject* or_all =
        PyUnicode_FromFormat(f->num_results > f->num_returned ? ", or of %d with the aux results" : "", f->num_results);
    if (or_all != NULL) {
      PyErr_Format(PyExc_TypeError, "%s: out: expected a tuple of %d tensor%s%U, got %zd", f->name,
                   (int)f->num_returned, f->num_returned == 1 ? "" : "s", or_all, count);
    }
    Py_XDECREF(or_all);
    return -1;
  }
  for (i = 0; i < count; ++i) {
    PyObject* destination = PyTuple_GetItem(out, i);
    destinations[kpy_result_index(f, (int32_t)count, i)] = destination == Py_None ? NULL : destination;
  }
  return (int)count;
}
