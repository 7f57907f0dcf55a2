/* The call core: what its files share. Plain C on CPython's limited API (3.11); everything here needs the GIL unless it
 * says otherwise. Functions returning int return 0, or -1 with a Python exception set. */
#ifndef KERNPACK_PYTHON_CORE_H_
#define KERNPACK_PYTHON_CORE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <kernpack/host/signature.h>

#include "exchange.h"

#define KPY_HIDDEN __attribute__((visibility("hidden")))
#define KPY_LIKELY(x) __builtin_expect(!!(x), 1)
#define KPY_UNLIKELY(x) __builtin_expect(!!(x), 0)

typedef struct KpyCall KpyCall;
typedef struct KpyFamily KpyFamily;
typedef struct KpyFunction KpyFunction;
typedef struct KpyJaxProgram KpyJaxProgram;
typedef struct KpyMemo KpyMemo;
typedef struct KpySlot KpySlot;

/* What a converter answers. DIVERT: this call belongs to a framework's own path (autograd, tracing); see hooks.c. */
enum { KPY_OK = 0, KPY_ERROR = -1, KPY_DIVERT = 1 };

/* Views `object` as a value. What it borrows stays valid until the call ends (kpy_call_keep_* see to that). */
typedef int (*KpyConvert)(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out);

/* How one Python type is read where one parameter is given: found once, then compared by type pointer only. */
struct KpySlot {
  PyTypeObject* type; /* strong; NULL: empty */
  KpyConvert convert;
  const KpyFamily* family; /* NULL: no tensor */
  const void* data; /* the converter's own */
};

/* A framework as the receiver of results. Immortal. */
struct KpyFamily {
  const char* name;
  /* Makes destination `index` of the call: fills *out (borrowed until the call ends) and call->results[index]. */
  int (*allocate)(KpyCall* call, const KpyFamily* family, const KpDLTensor* prototype, int32_t index, KpAny* out);
  /* The finished destination as the framework's object; a new reference. */
  PyObject* (*finish)(KpyCall* call, const KpyFamily* family, int32_t index);
  /* Releases a destination that is not handed out. */
  void (*discard)(KpyCall* call, int32_t index);
  /* A TENSOR (borrowed) as the framework's object; a new reference. */
  PyObject* (*wrap)(const KpyFamily* family, KpObject* tensor);
  /* What kernels get from tensor_alloc during the call; NULL: the host's own. Called without the GIL. */
  int (*tensor_alloc)(void* family, const KpDLTensor* prototype, KpAny* out);
  const KpyExchangeApi* api; /* of exchange families */
  PyTypeObject* type; /* strong; of families that know one */
};

typedef struct KpyParam {
  PyObject* name; /* interned str */
  const char* c_name;
  uint32_t kind; /* KpParamKind */
  uint32_t flags; /* KpParamFlags */
  int32_t has_default;
  int32_t number_type; /* the KpTypeIndex of a number that fits as it is; -1: none does */
  KpAny default_value; /* owned */
} KpyParam;

enum { KPY_SLOT_WAYS = 2, KPY_MAX_VALUES = KP_SIG_MAX_PARAMS + KP_SIG_MAX_RESULTS + 1, KPY_INLINE_VALUES = 16 };

typedef struct KpySlots {
  KpySlot way[KPY_SLOT_WAYS];
} KpySlots;

/* A call, by positional and then keyword arguments, as in CPython's vectorcall. */
typedef PyObject* (*KpyEnter)(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

/* One kernel function; what Python sees as FunctionInfo. Immortal: interned by the loaded function. */
struct KpyFunction {
  PyObject_HEAD const KpLoadedFunction* loaded;
  KpyEnter enter; /* call_entry.c chooses */
  KpyEnter enter_without_jax;
  const uint32_t* program; /* NULL: untyped */
  const char* name;
  KpSafeCall cpu_call; /* the loaded function's; NULL while calls are checked: each asks the host whom to call */
  void* cpu_self;
  KpyParam* params; /* length num_params */
  KpyMemo* memo; /* NULL: each call is checked */
  KpyJaxProgram* jax_programs; /* the newest first; NULL: no eager JAX call was made */
  KpySlots* slots; /* length num_params + num_results; of an untyped function KPY_INLINE_VALUES */
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
  KpyFunction* made_before; /* the list of all of them */
};

/* What must be let go when the call ends. */
typedef struct KpyKeep {
  void* what;
  void (*release)(void* what);
} KpyKeep;

/* One call in progress; on the C stack, hot fields first. Nothing here is initialised but what kpy_call_begin sets. */
struct KpyCall {
  KpyFunction* function;
  const KpyFamily* family; /* of the first tensor argument; NULL: none yet */
  const char* argument; /* name of what is being converted */
  uint32_t flags; /* KpParamFlags of what is being converted */
  uint32_t kind; /* KpParamKind, or KPY_KIND_ANY */
  int32_t position; /* of what is being converted */
  int32_t num_tensors;
  int32_t num_dims;
  int32_t num_keeps;
  int32_t own_tensors; /* tensors must be owning TENSOR objects */
  uint8_t torch_checked; /* the guards of the call as a whole ran */
  uint8_t torch_autograd_asked; /* the one below is known */
  uint8_t torch_grad_mode;
  int32_t has_stream;
  KpDLDevice device; /* of stream */
  void* stream;
  KpyKeep* keeps_more; /* heap, when the inline ones ran out; capacity keeps_capacity */
  int32_t keeps_capacity;
  const char* divert; /* why the fast path must not take the call */
  PyObject* divert_hook; /* borrowed: who takes it; NULL: nobody */
  void* results[KP_SIG_MAX_RESULTS]; /* the family's own */
  KpDLTensor tensors[KPY_INLINE_VALUES];
  KpyKeep keeps[KPY_INLINE_VALUES];
  int64_t dims[KPY_INLINE_VALUES * 8];
};

#define KPY_KIND_ANY 0xffu

static inline void kpy_call_begin(KpyCall* call, KpyFunction* function) {
  call->function = function;
  call->family = NULL;
  call->num_tensors = 0;
  call->num_dims = 0;
  call->num_keeps = 0;
  call->own_tensors = 0;
  call->torch_checked = 0;
  call->torch_autograd_asked = 0;
  call->has_stream = 0;
  call->device.device_type = 0;
  call->device.device_id = 0;
  call->stream = NULL;
  call->keeps_more = NULL;
  call->keeps_capacity = 0;
  call->divert = NULL;
  call->divert_hook = NULL;
}

/* What errors call the function and the argument that is being converted. */
static inline const char* kpy_who(const KpyCall* call) { return call->function ? call->function->name : "kernpack"; }
static inline const char* kpy_what(const KpyCall* call) { return call->argument ? call->argument : "argument"; }

/* call.c, call_untyped.c */
KPY_HIDDEN PyObject* kpy_call_typed(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
KPY_HIDDEN PyObject* kpy_call_untyped(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

/* frame.c */
KPY_HIDDEN void kpy_call_end(KpyCall* call);
/* Runs release(what) when the call ends; on failure runs it at once. */
KPY_HIDDEN int kpy_call_keep(KpyCall* call, void* what, void (*release)(void* what));
KPY_HIDDEN int kpy_call_keep_object(KpyCall* call, PyObject* stolen);
KPY_HIDDEN int kpy_call_keep_any(KpyCall* call, const KpAny* owned); /* a host value */
KPY_HIDDEN void* kpy_call_memory(KpyCall* call, size_t bytes); /* from the heap, until the call ends; NULL on failure */
/* Memory for a tensor view, or for `count` extents, until the call ends; NULL on failure. */
static inline KpDLTensor* kpy_call_tensor(KpyCall* call) {
  if (KPY_LIKELY(call->num_tensors < KPY_INLINE_VALUES)) return &call->tensors[call->num_tensors++];
  return (KpDLTensor*)kpy_call_memory(call, sizeof(KpDLTensor));
}
static inline int64_t* kpy_call_dims(KpyCall* call, int32_t count) {
  if (KPY_LIKELY(call->num_dims + count <= KPY_INLINE_VALUES * 8)) {
    int64_t* dims = &call->dims[call->num_dims];
    call->num_dims += count;
    return dims;
  }
  return (int64_t*)kpy_call_memory(call, (size_t)count * sizeof(int64_t));
}

/* bind.c: spreads positional and keyword arguments over `values` (length num_params; NULL: the default) and `out`. */
KPY_HIDDEN int kpy_bind(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** values,
                        PyObject** out);
KPY_HIDDEN int kpy_bind_destinations(KpyFunction* f, PyObject* out, PyObject** destinations);
KPY_HIDDEN PyObject* kpy_parameter_list(KpyFunction* f);

/* resolve.c */
KPY_HIDDEN const KpySlot* kpy_resolve(KpyCall* call, KpySlots* slots, PyObject* object);
KPY_HIDDEN int kpy_resolve_type(PyObject* object, uint32_t kind, KpySlot* out);

static inline int kpy_convert(KpyCall* call, KpySlots* slots, PyObject* object, KpAny* out) {
  PyTypeObject* type = Py_TYPE(object);
  const KpySlot* slot = &slots->way[0];
  if (KPY_UNLIKELY(slot->type != type)) {
    slot = &slots->way[1];
    if (slot->type != type) {
      slot = kpy_resolve(call, slots, object);
      if (slot == NULL) return KPY_ERROR;
    }
  }
  return slot->convert(call, slot, object, out);
}

/* convert_scalar.c, convert_text.c, convert_kind.c, convert_container.c, convert_numpy.c, convert_exchange.c,
 * convert_dlpack.c, tensor.c: each says what its types are. 1: it knows the type; 0: not mine; -1: error. */
KPY_HIDDEN int kpy_resolve_scalar(PyObject* object, uint32_t kind, KpySlot* out);
KPY_HIDDEN int kpy_resolve_text(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_kind(PyObject* object, uint32_t kind, KpySlot* out);
KPY_HIDDEN int kpy_resolve_container(PyObject* object, uint32_t kind, KpySlot* out);
KPY_HIDDEN int kpy_resolve_numpy(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_exchange(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_buffer(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_jax(PyObject* object, uint32_t kind, KpySlot* out);
KPY_HIDDEN int kpy_resolve_dlpack(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_convert_dlpack(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out);
KPY_HIDDEN int kpy_resolve_tensor(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_handle(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_object(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_traced(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_torch_symbol(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_convert_opaque(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out);
KPY_HIDDEN int kpy_convert_callable(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out);

/* An owned host value from any Python object, outside a call (callback results, global functions); errors speak of `what`. */
KPY_HIDDEN int kpy_to_any(PyObject* object, const char* what, KpAny* out);
/* For a parameter with those flags, KP_PARAM_*. */
KPY_HIDDEN int kpy_to_any_for(PyObject* object, const char* what, uint32_t flags, KpAny* out);

/* own.c: gives the value a tensor view ended up as: the view itself, or an owning TENSOR when the call wants those.
 * `object` is kept alive by the TENSOR. */
KPY_HIDDEN int kpy_emit_tensor(KpyCall* call, KpDLTensor* view, PyObject* object, KpAny* out);
KPY_HIDDEN void kpy_release_object(void* object); /* Py_DECREF */
KPY_HIDDEN void kpy_release_object_any_thread(void* object); /* takes the GIL; leaks after interpreter exit */

/* to_python.c: a new reference; `value` is borrowed. `family` (nullable) receives tensors. */
KPY_HIDDEN PyObject* kpy_to_python(const KpAny* value, const KpyFamily* family);

/* big_int.c: ints outside 64 bits. */
KPY_HIDDEN PyObject* kpy_from_big_int(const KpAny* value);
KPY_HIDDEN int kpy_to_big_int(PyObject* object, KpAny* out); /* an owned value; -1: with OverflowError, there is none */

/* errors.c */
KPY_HIDDEN PyObject* kpy_raise_host(const char* who, int rc); /* the host's pending error as a Python one; NULL */
KPY_HIDDEN PyObject* kpy_raise_any(KpAny* owned_error); /* consumes; NULL */
KPY_HIDDEN int kpy_raise_from_python(void); /* the Python exception in flight as the host's error; -1 */
KPY_HIDDEN int kpy_argument_error(KpyCall* call, PyObject* type, const char* expected, PyObject* got);
KPY_HIDDEN int kpy_name_argument(KpyCall* call); /* puts function and argument before the error in flight; KPY_ERROR */
KPY_HIDDEN int kpy_error_register(PyObject* kind, PyObject* type);
KPY_HIDDEN PyObject* kpy_error_class(PyObject* kind); /* None where none is registered; a new reference */
KPY_HIDDEN int kpy_errors_init(void);

/* hooks.c */
KPY_HIDDEN int kpy_divert(KpyCall* call, const char* hook, const char* why);
KPY_HIDDEN PyObject* kpy_diverted(KpyCall* call, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
KPY_HIDDEN PyObject* kpy_hook(const char* name); /* borrowed or NULL, no error set */
KPY_HIDDEN PyObject* kpy_set_hook(PyObject* module, PyObject* args);

/* families */
KPY_HIDDEN const KpyFamily* kpy_own_family(void);
KPY_HIDDEN const KpyFamily* kpy_numpy_family(void); /* NULL without an error while numpy is not loaded */

/* types; each *_init adds its type to the module */
KPY_HIDDEN PyObject* kpy_tensor_from_object(KpObject* tensor); /* borrowed; a new kernpack.Tensor */
KPY_HIDDEN PyObject* kpy_tensor_new_borrowed(const KpDLTensor* view);
KPY_HIDDEN int kpy_tensor_expire(PyObject* tensor);
KPY_HIDDEN KpObject* kpy_tensor_object(PyObject* tensor); /* borrowed; NULL with an error: expired or no Tensor */
KPY_HIDDEN int kpy_tensor_keep(PyObject* tensor, KpAny* out); /* an owned TENSOR: the tensor's own */
KPY_HIDDEN int kpy_tensor_init(PyObject* module);
KPY_HIDDEN PyObject* kpy_tensor_exchange_capsule(void);
KPY_HIDDEN PyObject* kpy_device_new(KpDLDevice device);
KPY_HIDDEN int kpy_device_from(PyObject* object, KpDLDevice* out); /* 1, 0: no device, -1 */
KPY_HIDDEN int kpy_device_init(PyObject* module);
KPY_HIDDEN PyObject* kpy_dtype_new(KpDLDataType dtype);
KPY_HIDDEN int kpy_dtype_from(PyObject* object, KpDLDataType* out); /* 1, 0: no dtype, -1 */
KPY_HIDDEN int kpy_dtype_init(PyObject* module);
KPY_HIDDEN PyObject* kpy_handle_new(KpObject* object); /* borrowed; a kernpack.Object */
KPY_HIDDEN int kpy_handle_init(PyObject* module);
/* object_class.c: a capsule with a reference to the object; the object as its class has it, else as a kernpack.Object. */
KPY_HIDDEN PyObject* kpy_object_capsule(KpObject* object);
KPY_HIDDEN PyObject* kpy_object_wrap(KpObject* object);
KPY_HIDDEN int kpy_function_init(PyObject* module);
KPY_HIDDEN PyTypeObject* kpy_function_type(void);

/* helpers.c: kernpack._core_helpers, the rare paths that are better written in Python. A new reference. */
KPY_HIDDEN PyObject* kpy_helper(const char* name, const char* format, ...);
/* What a framework's dtype or device object stands for, a new reference; NULL without an error: it is none. The helper names it
 * (None: it is none) and `make` turns the name into ours, once an object: `known` remembers (a dict, made on first use). */
KPY_HIDDEN PyObject* kpy_foreign(PyObject** known, PyObject* object, const char* helper,
                                 PyObject* (*make)(PyObject* name));
KPY_HIDDEN PyObject* kpy_loaded_module(const char* name); /* sys.modules[name]: borrowed; NULL without an error */

/* module functions */
KPY_HIDDEN extern PyMethodDef kpy_api_methods[];

#endif /* KERNPACK_PYTHON_CORE_H_ */
