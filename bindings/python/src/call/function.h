/* A kernel function, and the ways to call it. */
#ifndef KERNPACK_PYTHON_CALL_FUNCTION_H_
#define KERNPACK_PYTHON_CALL_FUNCTION_H_

#include "values/convert.h"

typedef struct KpyParam {
  PyObject* name; /* interned str */
  const char* c_name;
  uint32_t kind; /* KpParamKind */
  uint32_t flags; /* KpParamFlags */
  int32_t has_default;
  int32_t number_type; /* the KpTypeIndex of a number that fits as it is; -1: none does */
  KpAny default_value; /* owned */
} KpyParam;

/* A call, by positional and then keyword arguments, as in CPython's vectorcall. */
typedef PyObject* (*KpyEnter)(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

/* Caches of a function's calls (locals.h). */
struct KpyLocal {
  KpySlots* slots; /* length num_slots */
  KpyMemo* memo; /* NULL: each call is checked */
  KpyJaxProgram* jax_programs; /* the newest first; NULL: no eager JAX call was made */
};

/* Whom calls on the CPU go to. Never changed once published, nor freed. */
typedef struct KpyTarget {
  KpSafeCall call;
  void* self;
  const struct KpyTarget* made_before; /* of the same function */
} KpyTarget;

/* One kernel function; what Python sees as FunctionInfo. Immortal: interned by the loaded function. */
struct KpyFunction {
  PyObject_HEAD const KpLoadedFunction* loaded;
  KpyEnter enter; /* published, as the two below; call_entry.c chooses */
  KpyEnter enter_without_jax;
  const KpyTarget*
      on_cpu; /* the loaded function's, or what records its calls; NULL while calls are checked: each asks the host whom to
                              call */
  const uint32_t* program; /* NULL: untyped */
  const char* name;
  KpyParam* params; /* length num_params */
  PyObject* torch_call; /* published; takes calls that torch must see; NULL: nobody has asked kernpack.torch yet */
  PyObject* torch_whole; /* published; torch's operator, if it takes the function's own arguments; NULL: it doesn't */
#ifdef Py_GIL_DISABLED
  uint32_t number; /* from 0, by age */
#else
  KpyLocal local;
#endif
  int32_t num_slots; /* num_params + num_results; of an untyped function KPY_INLINE_VALUES */
  int32_t has_jax_programs; /* one of the locals has */
  int32_t num_params;
  int32_t num_positional;
  int32_t num_results;
  int32_t num_returned; /* results that are not aux; they come first in `returned` */
  int32_t returned[KP_SIG_MAX_RESULTS]; /* result indices handed to the caller, in order */
  int32_t has_workspace;
  int32_t takes_numbers; /* some tensor parameter accepts a number */
  int32_t quick; /* keep the GIL */
  int32_t numbers_only; /* positional numbers in, nothing out, no condition on them */
  int32_t of_peer; /* of a module built with apache-tvm-ffi's SDK */
  uint64_t owned_tensors; /* untyped: bit i: argument i wants an owning TENSOR */
  PyMethodDef method;
  char* doc;
  PyObject* callable; /* the builtin closure; strong */
  const KpyTarget* targets; /* that were ever on_cpu */
  KpyFunction* made_before; /* the list of all of them */
};

/* function.c */
KPY_HIDDEN int kpy_functions_init(void);
KPY_HIDDEN int kpy_function_init(PyObject* module);
KPY_HIDDEN PyTypeObject* kpy_function_type(void);

/* call.c, call_untyped.c */
KPY_HIDDEN PyObject* kpy_call_typed(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
KPY_HIDDEN PyObject* kpy_call_untyped(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

/* bind.c: spreads positional and keyword arguments over `values` (length num_params; NULL: the default) and `out`. */
KPY_HIDDEN int kpy_bind(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** values,
                        PyObject** out);
/* The index of a parameter; -1: there is none of that name. */
KPY_HIDDEN int32_t kpy_find_param(const KpyFunction* f, PyObject* name);
/* A tuple of str; a new reference. */
KPY_HIDDEN PyObject* kpy_parameter_names(const KpyFunction* f);
/* How many results the caller gets, or -1: a tuple with a place for each result asks for the aux ones too. */
KPY_HIDDEN int kpy_bind_destinations(KpyFunction* f, PyObject* out, PyObject** destinations);
/* The index of the i-th result that a caller of `count` gets. */
static inline int32_t kpy_result_index(const KpyFunction* f, int32_t count, int32_t i) {
  return count == f->num_returned ? f->returned[i] : i;
}
KPY_HIDDEN PyObject* kpy_parameter_list(KpyFunction* f);

/* text_signature.c: the docstring of a builtin, "name($self, x, weight, *, eps=1e-06, out=None)\n--\n\n...", which help() and
 * inspect.signature() read. PyMem memory, or NULL with an error. */
KPY_HIDDEN char* kpy_text_signature(KpyFunction* f);

#endif /* KERNPACK_PYTHON_CALL_FUNCTION_H_ */
