/* Which way a call takes that torch must see. The hooks tell by fields and thread-local words; without them torch's own functions
 * do, which kernpack.torch hands over. Each question is asked once per call, not once per tensor: what autograd doesn't follow then
 * goes past the operator's kernel at the Autograd key, which is written in Python. */
#include "way_torch.h"

#include "api/api.h"
#include "guard_torch.h"
#include "private_torch/switch.h"
#include "python/threads.h"

/* torch's functions; NULL until kernpack.torch is imported. The last is published after the others. */
static PyObject* g_takes_over; /* (tensor) -> whether a function mode is active */
static PyObject* g_transforms; /* () -> whether the thread is inside torch.func's transforms */
static PyObject* g_traces; /* () -> whether torch.jit.trace records, or autocast is on */
static PyObject* g_unpack; /* (tensor) -> (primal, tangent); the tensor itself where no level of forward mode is open */
/* Open a level of forward mode, and close it. Published after what closes it needs; NULL: this torch lacks them. */
static PyObject *g_open_level, *g_close_level, *g_first_level; /* the last one: (0,) */
static int g_level_opened; /* published: a level was opened and closed, so that these functions are as expected */

PyObject* kpy_api_torch_ask_by(PyObject* takes_over, PyObject* transforms, PyObject* unpack, PyObject* traces) {
  Py_INCREF(takes_over); /* kept until the process ends */
  Py_INCREF(transforms);
  Py_INCREF(unpack);
  Py_INCREF(traces);
  g_takes_over = takes_over;
  g_transforms = transforms;
  g_traces = traces;
  KPY_PUBLISH(g_unpack, unpack);
  return kpy_done(0);
}

/* 1 if a level could be opened: torch has one, and refuses to open another (0). It's closed at once. Both functions are C++, and nothing
 * between them runs Python or makes an object that the collector counts: no other thread and no __del__ sees the level. -1: this torch
 * has other levels. */
static int CanOpenLevel(PyObject* open) {
  PyObject *level = PyObject_CallNoArgs(open), *closed;
  int is_first;
  if (level == NULL) {
    PyErr_Clear();
    return 0;
  }
  is_first = PyLong_AsLong(level) == 0;
  closed =
      is_first ? PyObject_Call(g_close_level, g_first_level, NULL) : PyObject_CallFunction(g_close_level, "O", level);
  Py_DECREF(level);
  if (closed == NULL) PyErr_Clear();
  Py_XDECREF(closed);
  return is_first && closed != NULL ? 1 : -1;
}

/* Inside a level they can't be tried: then the next question is another try. */
int kpy_torch_levels_are_told(void) {
  PyObject* open = KPY_PUBLISHED(g_open_level);
  int answer;
  if (open == NULL || KPY_LIKELY(KPY_PUBLISHED(g_level_opened))) return open != NULL;
  answer = CanOpenLevel(open);
  if (answer < 0) KPY_PUBLISH(g_open_level, NULL);
  if (answer > 0) KPY_PUBLISH(g_level_opened, 1);
  return answer > 0;
}

PyObject* kpy_api_torch_levels_by(PyObject* open, PyObject* close) {
#ifdef Py_GIL_DISABLED
  (void)open, (void)close, (void)CanOpenLevel; /* another thread could be refused a level meanwhile */
#else
  PyObject* level = Py_BuildValue("(i)", 0); /* kept until the process ends, as the others */
  if (level == NULL) return NULL;
  Py_INCREF(open);
  Py_INCREF(close);
  g_first_level = level;
  g_close_level = close;
  KPY_PUBLISH(g_open_level, open);
#endif
  return kpy_done(0);
}

/* True if the answer is False; takes the reference. */
static int IsNo(PyObject* answer) {
  if (answer == NULL) PyErr_Clear();
  Py_XDECREF(answer);
  return answer == Py_False;
}

int kpy_torch_no_level_open(PyObject* tensor) {
  PyObject *unpack = KPY_PUBLISHED(g_unpack), *pair;
  int closed;
  if (kpy_torch_levels_are_told()) return CanOpenLevel(g_open_level) > 0;
  if (KPY_PUBLISHED(g_open_level) != NULL) return 0; /* a level is open */
  pair = unpack == NULL ? NULL : PyObject_CallFunctionObjArgs(unpack, tensor, NULL);
  closed = pair != NULL && PyTuple_Check(pair) && PyTuple_Size(pair) > 0 && PyTuple_GetItem(pair, 0) == tensor;
  if (pair == NULL) PyErr_Clear();
  Py_XDECREF(pair);
  return closed;
}

/* Without the hooks. The answers are those of torch's own tensors: for other classes the dispatcher is asked. */
static KpyTorchWay WayByFunctions(PyObject* first, int is_recorded) {
  if (KPY_PUBLISHED(g_unpack) == NULL || !IsNo(PyObject_CallFunctionObjArgs(g_takes_over, first, NULL)) ||
      !IsNo(PyObject_CallNoArgs(g_transforms)) || !kpy_torch_no_level_open(first)) {
    return KPY_TORCH_ASK;
  }
  if (!is_recorded) return KPY_TORCH_BELOW;
  return IsNo(PyObject_CallNoArgs(g_traces)) ? KPY_TORCH_RECORD : KPY_TORCH_ASK;
}

KpyTorchWay kpy_torch_way_of(PyObject* first, int requires_grad) {
  return WayByFunctions(first, requires_grad && kpy_torch_records());
}

KpyTorchWay kpy_torch_way(PyObject* const* objects, Py_ssize_t count) {
  const int by_hooks = KPY_PUBLISHED(kpy_torch_hook_on[KPY_TORCH_WATCHERS]);
  PyTypeObject* base = kpy_torch_tensor_type();
  PyObject* first = NULL;
  int is_recorded = 0, are_plain = 1;
  Py_ssize_t i;
  if (base == NULL) return KPY_TORCH_ASK;
  for (i = 0; i < count; ++i) {
    if (objects[i] == Py_None) continue;
    are_plain &= kpy_torch_is_plain(Py_TYPE(objects[i]));
    if (!(by_hooks ? PyObject_TypeCheck(objects[i], base) : are_plain)) return KPY_TORCH_ASK;
    if (first == NULL) first = objects[i];
    is_recorded |= kpy_torch_requires_grad(objects[i]);
  }
  if (first == NULL) return KPY_TORCH_ASK;
  if (by_hooks) {
    is_recorded &= kpy_torch_records();
    if (!(is_recorded || are_plain) || kpy_torch_is_watched() || kpy_torch_any_tangent(objects, count))
      return KPY_TORCH_ASK;
    return is_recorded ? KPY_TORCH_RECORD : KPY_TORCH_BELOW;
  }
  return kpy_torch_way_of(first, is_recorded);
}
