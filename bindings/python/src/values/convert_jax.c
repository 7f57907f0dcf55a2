/* JAX's arrays, its tracers, and objects that give an array when asked (`__jax_array__`: flax.nnx.Param). JAX's own path knows
 * jit and functional updates; kernpack.jax registers it when first needed. */
#include "api/api.h"
#include "call/frame.h"
#include "python/hooks.h"
#include "python/threads.h"

enum { NOT_JAX, ARRAY, TRACER, GIVES_ARRAY }; /* what the helper jax_kind answers */

static int ConvertArray(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  if (call->function == NULL && (call->flags & KP_PARAM_MUTATED)) {
    PyErr_Format(PyExc_ValueError,
                 "%s: %s: expected a writeable tensor (it may be written to; pass a copy), got a JAX array, which is "
                 "immutable",
                 kpy_who(call), kpy_what(call));
    return KPY_ERROR;
  }
  if (call->function == NULL) {
    const int rc = kpy_convert_dlpack(call, slot, object, out);
    /* Not all versions of JAX say so. */
    if (rc == KPY_OK) (void)kp_tensor_make_read_only(out->v.v_obj);
    return rc;
  }
  if (call->function->program == NULL) {
    PyErr_Format(
        PyExc_ValueError,
        "%s: %s: expected a writeable tensor (a function without a signature may write to it; pass a NumPy copy), "
        "got a JAX array, which is immutable",
        kpy_who(call), kpy_what(call));
    return KPY_ERROR;
  }
  if (!kpy_has_hook("jax")) return kpy_convert_dlpack(call, slot, object, out);
  return kpy_divert(call, "jax", "a JAX array");
}

static int ConvertTracer(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)slot, (void)object, (void)out;
  return kpy_divert(call, "jax", "it is being traced by JAX; this needs kernpack.jax and a function with a signature");
}

static int ConvertGiver(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)slot, (void)object, (void)out;
  return kpy_divert(call, "jax", "it gives a JAX array (__jax_array__); this needs kernpack.jax");
}

int kpy_resolve_jax(PyObject* object, uint32_t kind, KpySlot* out) {
  PyObject* answer;
  long found;
  if (PyType_Check(object) || !kpy_is_loaded("jax")) return 0;
  answer = kpy_helper("jax_kind", "(O)", object); /* registers the hook */
  if (answer == NULL) return -1;
  found = PyLong_AsLong(answer);
  Py_DECREF(answer);
  if (found == NOT_JAX) return 0;
  if (found == GIVES_ARRAY) { /* what has no signature takes such an object as itself */
    if (kind != KP_PARAM_TENSOR) return 0;
    out->convert = ConvertGiver;
    return 1;
  }
  out->convert = found == ARRAY ? ConvertArray : ConvertTracer;
  out->family = kpy_dlpack_family(Py_TYPE(object));
  return out->family == NULL ? -1 : 1;
}

/* ---- calls without an array ---- */

static PyObject* g_traces; /* callable() -> whether JAX is tracing; NULL: JAX isn't imported */

PyObject* kpy_api_jax_tracing(PyObject* asks) {
  Py_INCREF(asks); /* kept until the process ends */
  KPY_PUBLISH(g_traces, asks);
  return kpy_done(0);
}

int kpy_jax_guard_call(KpyCall* call) {
  static int watching;
  PyObject *answer, *asks;
  int traces;
  if (KPY_UNLIKELY(!KPY_PUBLISHED(watching)) && !__atomic_exchange_n(&watching, 1, __ATOMIC_ACQ_REL)) {
    answer = kpy_helper("watch_jax", NULL); /* sets g_traces when JAX is imported */
    if (answer == NULL) return KPY_ERROR;
    Py_DECREF(answer);
  }
  asks = KPY_PUBLISHED(g_traces);
  if (KPY_LIKELY(asks == NULL) || kpy_python_ends()) return KPY_OK;
  answer = PyObject_CallNoArgs(asks);
  traces = answer == NULL ? -1 : PyObject_IsTrue(answer);
  Py_XDECREF(answer);
  if (traces < 0) return KPY_ERROR;
  return traces ? kpy_divert(call, "jax", "JAX is tracing a program; this needs kernpack.jax") : KPY_OK;
}
