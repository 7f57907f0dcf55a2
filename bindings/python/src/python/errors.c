/* Errors across the border, both ways. A Python exception that passes through a kernel comes back as the same object: it
 * rides in the Error's extra_context. */
#include <ctype.h>
#include <string.h>

#include "errors.h"
#include "call/frame.h"
#include "hooks.h"
#include "threads.h"
#include "values/values.h"

static PyObject* g_kinds; /* dict: kind -> exception class; "" is the class of unknown kinds */
static PyObject *g_kind_name, *g_backtrace_name; /* attributes of exceptions, interned */

/* Kernels that raise tend to raise an error of the same kind again, at the same place. The lock guards both. */
typedef struct Last {
  char text[256];
  size_t size; /* 0: none */
  PyObject* object; /* strong */
} Last;

static Last g_last; /* the kind asked for last, and its class */
static Last g_last_backtrace; /* the backtrace told last, as a str */
static uint64_t g_registered; /* how many classes were registered; the lock guards it */

/* The object of the text, a new reference; NULL: it isn't the last. */
static PyObject* Recalled(const Last* last, KpBytes text) {
  PyObject* object = NULL;
  kpy_lock();
  if (text.size > 0 && text.size == last->size && memcmp(text.data, last->text, text.size) == 0) object = last->object;
  Py_XINCREF(object);
  kpy_unlock();
  return object;
}

/* Keeps it, unless it is too long or a class was registered since there were `registered`. */
static void Note(Last* last, KpBytes text, PyObject* object, uint64_t registered) {
  PyObject* before = NULL;
  if (text.size > sizeof last->text) return;
  kpy_lock();
  if (registered == g_registered) {
    before = last->object;
    Py_INCREF(object);
    last->object = object;
    last->size = text.size;
    memcpy(last->text, text.data, text.size);
  }
  kpy_unlock();
  Py_XDECREF(before);
}

static uint64_t Registered(void) {
  uint64_t count;
  kpy_lock();
  count = g_registered;
  kpy_unlock();
  return count;
}

int kpy_errors_init(void) {
  static const char* const kBuiltin[] = {
      "ValueError",        "TypeError",          "RuntimeError",        "IndexError",
      "KeyError",          "MemoryError",        "AttributeError",      "NotImplementedError",
      "OverflowError",     "ZeroDivisionError",  "BufferError",         "FileNotFoundError",
      "OSError",           "ImportError",        "ModuleNotFoundError", "AssertionError",
      "KeyboardInterrupt", "TimeoutError",       "PermissionError",     "StopIteration",
      "ArithmeticError",   "LookupError",        "NameError",           "RecursionError",
      "EOFError",          "FloatingPointError", "UnicodeError",        "Exception",
      "InterruptedError"};
  PyObject* builtins = PyImport_ImportModule("builtins");
  size_t i;
  g_kinds = PyDict_New();
  g_kind_name = PyUnicode_InternFromString("kind");
  g_backtrace_name = PyUnicode_InternFromString("kernel_backtrace");
  if (builtins == NULL || g_kinds == NULL || g_kind_name == NULL || g_backtrace_name == NULL) return -1;
  for (i = 0; i < sizeof(kBuiltin) / sizeof(kBuiltin[0]); ++i) {
    PyObject* type = PyObject_GetAttrString(builtins, kBuiltin[i]);
    if (type == NULL || PyDict_SetItemString(g_kinds, kBuiltin[i], type) != 0) return -1;
    Py_DECREF(type);
  }
  Py_DECREF(builtins);
  return 0;
}

/* A path in a message need not be UTF-8; what comes out can always be printed. */
static PyObject* Decoded(KpBytes text) {
  return PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.size, "backslashreplace");
}

int kpy_error_register(KpBytes kind, PyObject* type) {
  PyObject* name = Decoded(kind);
  const int rc = name == NULL ? -1 : PyDict_SetItem(g_kinds, name, type);
  Py_XDECREF(name);
  kpy_lock();
  ++g_registered;
  g_last.size = 0;
  kpy_unlock();
  return rc;
}

PyObject* kpy_error_class(KpBytes kind) {
  PyObject *name = Decoded(kind), *type = name == NULL ? NULL : kpy_dict_get(g_kinds, name);
  Py_XDECREF(name);
  if (type != NULL || PyErr_Occurred()) return type;
  Py_INCREF(Py_None);
  return Py_None;
}

/* The class of a kind, a new reference; NULL when it is not known, with no error set. */
static PyObject* FindClass(KpBytes kind) {
  const uint64_t registered = Registered();
  PyObject *name, *type = Recalled(&g_last, kind);
  if (type != NULL) return type;
  name = Decoded(kind);
  type = name == NULL ? NULL : kpy_dict_get(g_kinds, name);
  Py_XDECREF(name);
  if (type == NULL) {
    PyErr_Clear();
  } else {
    Note(&g_last, kind, type, registered);
  }
  return type;
}

/* Ours is told from a foreign opaque by the deleter that our callbacks set. */
static PyObject* CarriedException(const KpErrorObject* error) {
  const KpOpaqueObject* opaque = (const KpOpaqueObject*)(const void*)error->extra_context;
  PyObject* exception;
  if (opaque == NULL || opaque->header.type_index != KP_TYPE_OPAQUE_PY_OBJECT) return NULL;
  exception = (PyObject*)opaque->handle;
  return PyExceptionInstance_Check(exception) ? exception : NULL;
}

static void SetText(PyObject* exception, PyObject* name, PyObject* text) {
  if (text == NULL || PyObject_SetAttr(exception, name, text) != 0) PyErr_Clear();
}

static void SetBacktrace(PyObject* exception, KpBytes text) {
  PyObject* decoded = Recalled(&g_last_backtrace, text);
  if (decoded == NULL && (decoded = Decoded(text)) != NULL) Note(&g_last_backtrace, text, decoded, Registered());
  SetText(exception, g_backtrace_name, decoded);
  Py_XDECREF(decoded);
}

/* Raises an instance, with a kind or backtrace attribute where the class alone does not tell. */
static void RaiseDetailed(PyObject* type, PyObject* message, const KpErrorObject* error, int tell_kind) {
  PyObject* exception = PyObject_CallFunctionObjArgs(type, message, NULL);
  if (exception == NULL) return;
  if (tell_kind) {
    PyObject* kind = Decoded(error->kind);
    SetText(exception, g_kind_name, kind);
    Py_XDECREF(kind);
  }
  if (error->backtrace.size > 0) SetBacktrace(exception, error->backtrace);
  PyErr_SetObject((PyObject*)Py_TYPE(exception), exception);
  Py_DECREF(exception);
}

/* The message as Python's users know the function: `who` instead of the C function ("kp_backend_load: ...") behind it. */
static PyObject* Spoken(KpBytes message, const char* who) {
  size_t end = 3;
  PyObject *rest, *text;
  if (who == NULL || message.size < 4 || memcmp(message.data, "kp_", 3) != 0) return Decoded(message);
  while (end < message.size && (isalnum((unsigned char)message.data[end]) || message.data[end] == '_')) ++end;
  if (end == message.size || message.data[end] != ':') return Decoded(message);
  message.data += end;
  message.size -= end;
  rest = Decoded(message);
  text = rest == NULL ? NULL : PyUnicode_FromFormat("%s%U", who, rest);
  Py_XDECREF(rest);
  return text;
}

static PyObject* RaiseAs(const char* who, KpAny* owned_error) {
  const KpErrorObject* error = (const KpErrorObject*)(const void*)owned_error->v.v_obj;
  PyObject *carried, *message, *type;
  if (owned_error->type_index != KP_TYPE_ERROR) {
    kp_any_release(owned_error);
    PyErr_SetString(PyExc_SystemError, "kernpack: a failed call left no error");
    return NULL;
  }
  carried = CarriedException(error);
  if (carried != NULL) {
    Py_INCREF(carried);
    kp_any_release(owned_error);
    PyErr_SetObject((PyObject*)Py_TYPE(carried), carried);
    Py_DECREF(carried);
    return NULL;
  }
  if (error->kind.size == 18 && memcmp(error->kind.data, "EnvErrorAlreadySet", 18) == 0 && PyErr_Occurred()) {
    kp_any_release(owned_error);
    return NULL;
  }
  message = Spoken(error->message, who);
  if (message != NULL) {
    const int known = (type = FindClass(error->kind)) != NULL;
    PyObject* raised = known ? type : (type = kpy_dict_get_text(g_kinds, "")) != NULL ? type : PyExc_RuntimeError;
    if (known && error->backtrace.size == 0) {
      PyErr_SetObject(raised, message);
    } else {
      RaiseDetailed(raised, message, error, !known);
    }
    Py_XDECREF(type);
    Py_DECREF(message);
  }
  kp_any_release(owned_error);
  return NULL;
}

PyObject* kpy_raise_host(const char* who, int rc) {
  KpAny error;
  kp_error_take(who, rc, &error);
  return RaiseAs(who, &error);
}

int kpy_raise_from_python(void) {
  PyObject *type, *value, *trace, *text = NULL, *name = NULL;
  const char *kind = "RuntimeError", *message = "";
  Py_ssize_t kind_size = 12, message_size = 0;
  KpBytes kind_bytes, message_bytes, none = {NULL, 0};
  KpAny error, carried;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != NULL) PyException_SetTraceback(value, trace);
  name = PyObject_GetAttrString(type, "__name__");
  if (name != NULL) kind = PyUnicode_AsUTF8AndSize(name, &kind_size);
  text = PyObject_Str(value);
  if (text != NULL) message = PyUnicode_AsUTF8AndSize(text, &message_size);
  PyErr_Clear();
  kind_bytes.data = kind ? kind : "RuntimeError";
  kind_bytes.size = kind ? (size_t)kind_size : 12;
  message_bytes.data = message ? message : "";
  message_bytes.size = message ? (size_t)message_size : 0;
  if (kp_error_new(kind_bytes, message_bytes, none, &error) == 0) {
    Py_INCREF(value);
    if (kp_opaque_new(value, KP_TYPE_OPAQUE_PY_OBJECT, kpy_release_object_any_thread, &carried) == 0) {
      ((KpErrorObject*)(void*)error.v.v_obj)->extra_context = carried.v.v_obj;
    } else {
      Py_DECREF(value);
    }
    (void)kp_host()->raise_object(kp_host(), error.v.v_obj);
    kp_any_release(&error);
  }
  Py_XDECREF(name);
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return -1;
}

int kpy_argument_error(KpyCall* call, PyObject* type, const char* expected, PyObject* got) {
  PyObject* shown = kpy_helper("shown", "(O)", got);
  if (shown != NULL) {
    PyErr_Format(type, "%s: %s: expected %s, got %U", kpy_who(call), kpy_what(call), expected, shown);
    Py_DECREF(shown);
  }
  return KPY_ERROR;
}

int kpy_name_argument(KpyCall* call) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (value != NULL && (type == PyExc_ValueError || type == PyExc_TypeError || type == PyExc_OverflowError)) {
    PyErr_Format(type, "%s: %s: %S", kpy_who(call), kpy_what(call), value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  } else {
    PyErr_Restore(type, value, trace);
  }
  return KPY_ERROR;
}

int kpy_refuse_read_only(const KpyCall* call) {
  PyErr_Format(PyExc_ValueError,
               "%s: %s: expected a writeable tensor (it may be written to; pass a copy), got a read-only one",
               kpy_who(call), kpy_what(call));
  return KPY_ERROR;
}

int kpy_refuse_padded(const KpyCall* call, const KpDLManagedTensorVersioned* managed) {
  const KpDLDataType dtype = managed->tensor.dtype;
  if (KPY_LIKELY((managed->flags & 4) == 0) || (unsigned)dtype.bits * dtype.lanes % 8 == 0) return KPY_OK;
  PyErr_Format(PyExc_BufferError,
               "%s: %s: expected packed elements, got elements of %d bits that take whole bytes each (DLPack says that "
               "they are padded); ask the producer for packed ones",
               call != NULL ? kpy_who(call) : "kernpack.Tensor", call != NULL ? kpy_what(call) : "the tensor",
               (int)dtype.bits);
  return KPY_ERROR;
}
