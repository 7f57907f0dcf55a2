/* kernpack.FunctionInfo's C half: one kernel function, its parameters, and the builtin closure that calls it. */
#include <string.h>

#include "call_entry.h"
#include "call_numbers.h"
#include "call_typed.h"
#include "python/errors.h"
#include "function.h"
#include "locals.h"
#include "python/threads.h"

static int ListDefault(const KpSigParam* param, KpAny* out) {
  if (kp_array_new(param->list_default_items, (size_t)param->list_default_size, out) == 0) return 0;
  (void)kpy_raise_host(NULL, -1);
  return -1;
}

static int32_t NumberType(const KpSigParam* param) {
  if (param->flags & KP_PARAM_LIST) return -1;
  switch (param->kind) {
    case KP_PARAM_INT:
      return KP_TYPE_INT;
    case KP_PARAM_FLOAT:
      return KP_TYPE_FLOAT;
    case KP_PARAM_BOOL:
      return KP_TYPE_BOOL;
    default:
      return -1;
  }
}

static int TakesNumbersOnly(const KpyFunction* f) {
  int32_t i;
  if (f->loaded->cpu_call == NULL || f->num_results > 0 || f->has_workspace || f->num_params != f->num_positional ||
      f->num_params > KPY_FEW_NUMBERS || !(kp_sig_props(f->program) & KP_PROP_UNCONDITIONAL)) {
    return 0;
  }
  for (i = 0; i < f->num_params; ++i) {
    if (f->params[i].number_type < 0) return 0;
  }
  return 1;
}

static int ReadParams(KpyFunction* f) {
  int32_t i;
  f->num_params = kp_sig_num_params(f->program);
  f->num_positional = kp_sig_num_positional(f->program);
  f->params = (KpyParam*)PyMem_Calloc((size_t)f->num_params + 1, sizeof(KpyParam));
  if (f->params == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (i = 0; i < f->num_params; ++i) {
    KpyParam* param = &f->params[i];
    KpSigParam info;
    if (kp_sig_param(f->program, i, &info) != 0) {
      (void)kpy_raise_host(f->name, -1);
      return -1;
    }
    param->c_name = info.name;
    param->name = PyUnicode_InternFromString(info.name);
    param->kind = info.kind;
    param->flags = info.flags;
    param->number_type = NumberType(&info);
    if (info.flags & KP_PARAM_SCALAR_OK) f->takes_numbers = 1;
    param->has_default = (info.flags & KP_PARAM_HAS_DEFAULT) != 0;
    param->default_value = info.default_value;
    if (param->name == NULL) return -1;
    if (info.list_default_size >= 0 && param->has_default && ListDefault(&info, &param->default_value) != 0) return -1;
  }
  return 0;
}

static int ReadResults(KpyFunction* f) {
  int32_t i;
  f->num_results = kp_sig_num_results(f->program);
  for (i = 0; i < f->num_results; ++i) {
    KpSigResult info;
    if (kp_sig_result(f->program, i, &info) != 0) {
      (void)kpy_raise_host(f->name, -1);
      return -1;
    }
    if (!(info.flags & KP_RESULT_AUX)) f->returned[f->num_returned++] = i;
  }
  return 0;
}

/* Which arguments of an untyped function must own their tensors. A module that does not say may keep any of them. */
static uint64_t OwnedTensors(const char* cxx_types) {
  uint64_t mask = 0;
  int position = 0, depth = 0;
  const char* begin;
  const char* at;
  if (cxx_types == NULL || cxx_types[0] != '(') return ~(uint64_t)0;
  for (begin = at = cxx_types + 1; *at != 0 && position < 64; ++at) {
    if (*at == '(' || *at == '[' || *at == '<') ++depth;
    if (depth > 0 && (*at == ')' || *at == ']' || *at == '>')) {
      --depth;
    } else if (depth == 0 && (*at == ',' || *at == ')')) {
      const char* found = strstr(begin, "owning");
      if (found != NULL && found < at) mask |= (uint64_t)1 << position;
      ++position;
      begin = at + 1;
      if (*at == ')') break;
    }
  }
  return mask;
}

static int MakeCallable(KpyFunction* f) {
  PyObject* module; /* its name, as __module__ */
  f->doc = kpy_text_signature(f);
  if (f->doc == NULL) return -1;
  f->method.ml_name = f->name;
  f->method.ml_meth = (PyCFunction)(void (*)(void))kpy_call;
  f->method.ml_flags = METH_FASTCALL | METH_KEYWORDS;
  f->method.ml_doc = f->doc;
  module = PyUnicode_FromString(f->loaded->module_name);
  if (module == NULL) return -1;
  f->callable = PyCFunction_NewEx(&f->method, (PyObject*)f, module);
  Py_DECREF(module);
  return f->callable == NULL ? -1 : 0;
}

/* Guarded by the lock. */
static KpyFunction* g_made; /* the newest; none is ever freed */
static PyObject* g_interned; /* dict: address of the loaded function -> FunctionInfo */

/* Calls may be on their way to any that there was, so a target is never changed. NULL: no memory. */
static const KpyTarget* FindTarget(KpyFunction* f, KpSafeCall call, void* self) {
  const KpyTarget* known;
  KpyTarget* made;
  for (known = f->targets; known != NULL; known = known->made_before) {
    if (known->call == call && known->self == self) return known;
  }
  made = (KpyTarget*)PyMem_Calloc(1, sizeof(KpyTarget));
  if (made == NULL) return NULL;
  made->call = call;
  made->self = self;
  made->made_before = f->targets;
  f->targets = made;
  return made;
}

/* With or without checks, with or without a profile. A call that has begun goes where it was going. */
static void Follow(KpyFunction* f, int checking) {
  static const KpDLDevice kCpu = {KP_DEVICE_CPU, 0};
  KpSafeCall call = f->loaded->cpu_call;
  void* self = f->loaded->cpu_self;
  const KpyTarget* target = NULL;
  if (call != NULL && !checking) {
    if (__atomic_load_n(kp_profiling(), __ATOMIC_RELAXED) != 0 &&
        kp_function_resolve(f->loaded, kCpu, &call, &self) != 0)
      kp_error_clear(); /* no memory for it: its calls aren't recorded */
    target = FindTarget(f, call, self);
  }
  KPY_PUBLISH(f->on_cpu, target);
  kpy_choose_entry(f);
}

/* True if the checking mode is on; calls that still run under checks don't count. */
static int IsChecking(void) { return __atomic_load_n(kp_checking(), __ATOMIC_RELAXED) % KP_CHECKING_CALL != 0; }

KPY_HIDDEN void kpy_follow_watchers(void) {
  KpyFunction* f;
  int checking;
  kpy_lock();
  checking = IsChecking();
  for (f = g_made; f != NULL; f = f->made_before) Follow(f, checking);
  kpy_unlock();
}

static int Fill(KpyFunction* f, const KpLoadedFunction* loaded) {
  f->loaded = loaded;
  f->name = loaded->name;
  f->program = loaded->program;
  if (f->program != NULL) {
    const uint32_t props = kp_sig_props(f->program);
    f->quick = (props & KP_PROP_QUICK) != 0;
    f->has_workspace = (props & KP_PROP_WORKSPACE) != 0;
    if (ReadParams(f) != 0 || ReadResults(f) != 0) return -1;
    f->numbers_only = TakesNumbersOnly(f);
    f->num_slots = f->num_params + f->num_results;
  } else {
    f->num_slots = KPY_INLINE_VALUES;
    f->owned_tensors = OwnedTensors(loaded->cxx_types);
    f->of_peer = strcmp(kp_module_sdk_version(loaded->module), "apache-tvm-ffi") == 0;
  }
  return kpy_locals_init(f) != 0 ? -1 : MakeCallable(f);
}

/* The interned one: `made`, or that of another thread that was quicker; a new reference for `made`'s. */
static PyObject* Intern(PyObject* key, PyObject* made) {
  KpyFunction* f = (KpyFunction*)made;
  PyObject* found;
  kpy_lock();
  found = kpy_dict_get(g_interned, key);
  if (found == NULL && !PyErr_Occurred() && PyDict_SetItem(g_interned, key, made) == 0) {
    found = made;
    Py_INCREF(found);
#ifdef Py_GIL_DISABLED
    f->number = g_made == NULL ? 0 : g_made->number + 1;
#endif
    Follow(f, IsChecking());
    f->made_before = g_made;
    g_made = f;
  }
  kpy_unlock();
  Py_DECREF(made);
  return found;
}

int kpy_functions_init(void) {
  g_interned = PyDict_New();
  return g_interned == NULL ? -1 : kpy_locals_start();
}

/* _core.function(module capsule, name, class) -> the interned FunctionInfo; KeyError when there is none. */
PyObject* kpy_api_function(const KpLoadedModule* module, KpBytes name, PyTypeObject* type) {
  const KpLoadedFunction* loaded;
  PyObject *key, *found;
  kp_error_clear();
  loaded = kp_module_function(module, name);
  if (loaded == NULL && kp_error_pending()) return kpy_raise_host(name.data, -1);
  if (loaded == NULL) return PyErr_Format(PyExc_KeyError, "%s", name.data);
  if (!PyType_IsSubtype(type, kpy_function_type()))
    return PyErr_Format(PyExc_TypeError, "function: expected a subclass of FunctionBase");
  key = PyLong_FromVoidPtr((void*)(uintptr_t)loaded);
  found = key == NULL ? NULL : kpy_dict_get(g_interned, key);
  if (found == NULL && !PyErr_Occurred()) {
    found = PyType_GenericAlloc(type, 0);
    if (found != NULL && Fill((KpyFunction*)found, loaded) != 0) Py_CLEAR(found);
    if (found != NULL) found = Intern(key, found);
  }
  Py_XDECREF(key);
  return found;
}
