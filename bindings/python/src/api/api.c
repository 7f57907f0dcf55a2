/* The Python functions that the rows of api_table.h make, and the small ones of them. */
#include "api.h"

#include "python/errors.h"
#include "torch/guard_torch.h"
#include "torch/way_torch.h"

/* ---- a row's function: reads the arguments, calls, and raises what the host has to say ---- */

#define LISTED_0() {KPY_ARG_ANY, NULL}
#define LISTED_1(k, n) {KPY_ARG_##k, #n}
#define LISTED_2(k, n, ...) {KPY_ARG_##k, #n}, LISTED_1(__VA_ARGS__)
#define LISTED_3(k, n, ...) {KPY_ARG_##k, #n}, LISTED_2(__VA_ARGS__)
#define LISTED_4(k, n, ...) {KPY_ARG_##k, #n}, LISTED_3(__VA_ARGS__)
#define LISTED_5(k, n, ...) {KPY_ARG_##k, #n}, LISTED_4(__VA_ARGS__)
#define LISTED_6(k, n, ...) {KPY_ARG_##k, #n}, LISTED_5(__VA_ARGS__)

#define GIVEN_0()
#define GIVEN_1(k0, n0) a[0].k0
#define GIVEN_2(k0, n0, k1, n1) a[0].k0, a[1].k1
#define GIVEN_3(k0, n0, k1, n1, k2, n2) a[0].k0, a[1].k1, a[2].k2
#define GIVEN_4(k0, n0, k1, n1, k2, n2, k3, n3) GIVEN_3(k0, n0, k1, n1, k2, n2), a[3].k3
#define GIVEN_5(k0, n0, k1, n1, k2, n2, k3, n3, k4, n4) GIVEN_4(k0, n0, k1, n1, k2, n2, k3, n3), a[4].k4
#define GIVEN_6(k0, n0, k1, n1, k2, n2, k3, n3, k4, n4, k5, n5) GIVEN_5(k0, n0, k1, n1, k2, n2, k3, n3, k4, n4), a[5].k5

#define FUNCTION(count, name, who, result, ...)                                                                \
  static PyObject* Call_##name(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) { \
    static const KpyApiFunction f = {who, count, {LISTED_##count(__VA_ARGS__)}};                               \
    KpyArg a[KPY_API_MOST];                                                                                    \
    (void)module;                                                                                              \
    if (kpy_api_read(&f, args, nargs, kwnames, a) != 0) return NULL;                                           \
    return kpy_api_answer(&f, a, kpy_api_##name(GIVEN_##count(__VA_ARGS__)));                                  \
  }
KPY_API(FUNCTION)

static PyObject* TorchAnyTangent(PyObject* module, PyObject* const* objects, Py_ssize_t count) {
  (void)module;
  return PyBool_FromLong(kpy_torch_any_tangent(objects, count));
}

static PyObject* TorchWay(PyObject* module, PyObject* const* objects, Py_ssize_t count) {
  (void)module;
  return PyLong_FromLong(kpy_torch_way(objects, count));
}

/* The text that inspect.signature() and help() read. A kind with a default shows it. */
#define SECOND(first, second, ...) second
#define DEFAULT_OF(probe) SECOND(probe, "", "")
#define DEFAULT_OPT_DEVICE ~, "=\"cpu\""
#define DEFAULT_OPT_STR ~, "=\"\""
#define SHOWN_0() ""
#define SHOWN_1(k, n) ", " #n DEFAULT_OF(DEFAULT_##k)
#define SHOWN_2(k, n, ...) SHOWN_1(k, n) SHOWN_1(__VA_ARGS__)
#define SHOWN_3(k, n, ...) SHOWN_1(k, n) SHOWN_2(__VA_ARGS__)
#define SHOWN_4(k, n, ...) SHOWN_1(k, n) SHOWN_3(__VA_ARGS__)
#define SHOWN_5(k, n, ...) SHOWN_1(k, n) SHOWN_4(__VA_ARGS__)
#define SHOWN_6(k, n, ...) SHOWN_1(k, n) SHOWN_5(__VA_ARGS__)
#define METHOD(count, name, who, result, ...)                                      \
  {#name, (PyCFunction)(void (*)(void))Call_##name, METH_FASTCALL | METH_KEYWORDS, \
   #name "($module" SHOWN_##count(__VA_ARGS__) ")\n--\n\n" result},

PyMethodDef kpy_api_methods[] = {
    KPY_API(METHOD)
    /* Not in the table: these take any number of objects, and are asked in calls that torch must see. */
    {"torch_any_tangent", (PyCFunction)(void (*)(void))TorchAnyTangent, METH_FASTCALL,
     "torch_any_tangent($module, *objects)\n--\n\n-> whether one is a tensor that may carry a tangent; sure only when "
     "False"},
    {"torch_way", (PyCFunction)(void (*)(void))TorchWay, METH_FASTCALL,
     "torch_way($module, *objects)\n--\n\n-> which way a call with these takes, tensors or None: 0: through torch's "
     "dispatcher; 1: below autograd, which has nothing to record; 2: a gradient is recorded, and nothing else follows "
     "the call"},
    {NULL, NULL, 0, NULL}};

/* ---- errors, checks, threads ---- */

PyObject* kpy_api_register_error(KpBytes kind, PyObject* error) { return kpy_done(kpy_error_register(kind, error)); }

PyObject* kpy_api_error_class(KpBytes kind) { return kpy_error_class(kind); }

PyObject* kpy_api_raise_pending(void) { return NULL; }

/* On, or off again; both times with the same flags. */
PyObject* kpy_api_checking(int on, int trace) {
  (on ? kp_checking_enter : kp_checking_leave)(trace ? KP_CHECKING_TRACE : 0u);
  kpy_follow_watchers();
  return kpy_done(0);
}

PyObject* kpy_api_log_debug(KpBytes line) {
  (void)kp_host()->log(kp_host(), KP_LOG_DEBUG, line);
  return kpy_done(0);
}

PyObject* kpy_api_set_peer_library(PyObject* path) { return kpy_done(kp_peer_set_library(PyBytes_AsString(path))); }

PyObject* kpy_api_set_num_threads(int32_t n) { return kpy_done(kp_set_num_threads(n)); }

PyObject* kpy_api_get_num_threads(void) {
  int32_t n;
  return kp_host()->num_threads(kp_host(), &n) == 0 ? PyLong_FromLong(n) : NULL;
}

PyObject* kpy_api_live_objects(void) { return PyLong_FromLongLong(kp_live_objects()); }
