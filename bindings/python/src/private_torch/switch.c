/* Which hooks are in use. kernpack._private lists them, with those of the other frameworks. */
#include "private_torch/switch.h"

#include "api/api.h"
#include "python/hooks.h"
#include "python/threads.h"
#include "torch/guard_torch.h"

#include <string.h>

uint8_t kpy_torch_hook_on[KPY_TORCH_HOOKS];

static uint8_t g_found[KPY_TORCH_HOOKS];
static const char* const kNames[KPY_TORCH_HOOKS] = {"torch.fields", "torch.watchers", "torch.versions",
                                                    "torch.results"};

int kpy_torch_hook_allowed(KpyTorchHook hook) {
  PyObject* answer = kpy_helper("is_private_allowed", "(s)", kNames[hook]);
  const int allowed = answer == Py_True;
  PyErr_Clear();
  Py_XDECREF(answer);
  return allowed;
}

void kpy_torch_hook_found(KpyTorchHook hook, int found) {
  KPY_PUBLISH(g_found[hook], found != 0);
  KPY_PUBLISH(kpy_torch_hook_on[hook], found != 0);
  if (hook == KPY_TORCH_WATCHERS) kpy_follow_watchers();
  Py_XDECREF(kpy_helper(found ? "private_found" : "private_not_found", "(s)", kNames[hook]));
  PyErr_Clear();
}

void kpy_torch_run_check(void (*check)(void* argument), void* argument) {
  PyObject* importing = kpy_helper("torch_is_importing", NULL);
  const int can_wait = importing == Py_False;
  PyErr_Clear();
  Py_XDECREF(importing);
  if (can_wait)
    kpy_in_fresh_thread(check, argument);
  else
    check(argument);
}

/* Before the first tensor, too: an operator that is found by its name asks while it is made, and keeps the answer. */
static void Look(void) {
  PyObject* torch = kpy_loaded_module("torch");
  if (torch != NULL && kpy_torch_init(torch) != 0) PyErr_Clear(); /* the first call raises it */
  Py_XDECREF(torch);
}

PyObject* kpy_api_use_torch_hook(KpBytes name, PyObject* on) {
  int i;
  Look();
  for (i = 0; i < KPY_TORCH_HOOKS; ++i) {
    const int before = KPY_PUBLISHED(kpy_torch_hook_on[i]);
    if (strcmp(kNames[i], name.data) != 0) continue;
    if (on != Py_None) {
      KPY_PUBLISH(kpy_torch_hook_on[i], KPY_PUBLISHED(g_found[i]) && on == Py_True);
      if (i == KPY_TORCH_WATCHERS) kpy_follow_watchers();
    }
    return PyBool_FromLong(before);
  }
  PyErr_Format(PyExc_ValueError,
               "use_torch_hook: expected torch.fields, torch.watchers, torch.versions or torch.results, got %s",
               name.data);
  return NULL;
}
