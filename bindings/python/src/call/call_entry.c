/* Which way a function's calls go. It's decided when the function is made, and again when checks or the hooks into torch are
 * switched on or off, the function has become an operator of torch, or JAX keeps its first program of it; a call only follows a pointer. */
#include "call_entry.h"

#include "call_numbers.h"
#include "function.h"
#include "private_torch/switch.h"
#include "python/threads.h"
#include "torch/below_torch.h"

PyObject* kpy_call(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  KpyFunction* f = (KpyFunction*)self;
  return KPY_PUBLISHED(f->enter)(f, args, nargs, kwnames);
}

/* Every argument of the one type that its parameter takes as it is: straight to the kernel. */
static PyObject* CallWithNumbers(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  const KpyTarget* target = KPY_PUBLISHED(f->on_cpu); /* NULL: checks were switched on while this call came here */
  KpAny numbers[KPY_FEW_NUMBERS];
  int32_t i;
  if (target == NULL || kwnames != NULL || nargs != f->num_params) return kpy_call_typed(f, args, nargs, kwnames);
  for (i = 0; i < f->num_params; ++i) {
    if (!kpy_number(args[i], &numbers[i]) || numbers[i].type_index != f->params[i].number_type) {
      return kpy_call_typed(f, args, nargs, kwnames);
    }
  }
  return kpy_call_numbers(f, target, numbers, f->num_params);
}

/* Without a signature any number fits. */
static PyObject* CallUntypedWithNumbers(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  const KpyTarget* target = KPY_PUBLISHED(f->on_cpu);
  if (KPY_LIKELY(target != NULL && kwnames == NULL && nargs <= KPY_FEW_NUMBERS)) {
    KpAny numbers[KPY_FEW_NUMBERS];
    Py_ssize_t i = 0;
    while (i < nargs && kpy_number(args[i], &numbers[i])) ++i;
    if (i == nargs) return kpy_call_numbers(f, target, numbers, (int32_t)nargs);
  }
  return kpy_call_untyped(f, args, nargs, kwnames);
}

/* Without the hook, torch's dispatcher must see each call with its tensors. */
static PyObject* CallByTorch(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  PyObject* answer;
  if (kpy_torch_call_below(f, args, nargs, kwnames, &answer)) return answer;
  return kpy_call_typed(f, args, nargs, kwnames);
}

static PyObject* CallWithJaxPrograms(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  PyObject* answer;
  if (kpy_jax_call(f, args, nargs, kwnames, &answer)) return answer;
  return KPY_PUBLISHED(f->enter_without_jax)(f, args, nargs, kwnames);
}

void kpy_choose_entry(KpyFunction* f) {
  const int runs_on_cpu = f->on_cpu != NULL; /* not while calls are checked */
  KpyEnter enter;
  if (f->program == NULL) {
    enter = runs_on_cpu ? CallUntypedWithNumbers : kpy_call_untyped;
  } else if (f->torch_whole != NULL && !KPY_PUBLISHED(kpy_torch_hook_on[KPY_TORCH_WATCHERS])) {
    enter = CallByTorch;
  } else {
    enter = runs_on_cpu && f->numbers_only ? CallWithNumbers : kpy_call_typed;
  }
  KPY_PUBLISH(f->enter_without_jax, enter);
  if (f->has_jax_programs) enter = CallWithJaxPrograms;
  KPY_PUBLISH(f->enter, enter);
}
