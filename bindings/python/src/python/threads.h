/* Lets threads share the call core if Python has no GIL. With a GIL, the GIL guards the shared data, and the lock does nothing.
 *
 * A call takes no lock: its caches belong to its thread (locals.h), and data that all threads read is found once and published. The
 * lock guards data that changes rarely: tables of frameworks, the list of functions, the last raised error. */
#ifndef KERNPACK_PYTHON_PYTHON_THREADS_H_
#define KERNPACK_PYTHON_PYTHON_THREADS_H_

#include "base.h"

/* Whoever sees the value also sees what was written before it was published. */
#define KPY_PUBLISH(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)
#define KPY_PUBLISHED(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)

#ifdef Py_GIL_DISABLED
/* No Python code may run between the two, so no reference that may be the last one is given up there. */
KPY_HIDDEN void kpy_lock(void);
KPY_HIDDEN void kpy_unlock(void);
/* In a forked child. Python forks when no other thread is inside. */
KPY_HIDDEN void kpy_lock_forget(void);
#else
static inline void kpy_lock(void) {}
static inline void kpy_unlock(void) {}
static inline void kpy_lock_forget(void) {}
#endif

/* dict[key]: a new reference, since another thread may replace it; NULL without an error: it isn't there. */
static inline PyObject* kpy_dict_get(PyObject* dict, PyObject* key) {
#ifdef Py_GIL_DISABLED
  PyObject* found;
  (void)PyDict_GetItemRef(dict, key, &found);
  return found;
#else
  PyObject* found = PyDict_GetItemWithError(dict, key);
  Py_XINCREF(found);
  return found;
#endif
}

/* As kpy_dict_get; errors are cleared. */
KPY_HIDDEN PyObject* kpy_dict_get_text(PyObject* dict, const char* key);

/* Entering Python from a thread of any kind, at any time: also while the interpreter ends. */
/* Runs body(argument) with the GIL: 1; or leaves it and says 0, because Python has ended or is about to. A thread that the
 * interpreter's end overtakes inside the body never comes back: it sleeps until the process ends. */
KPY_HIDDEN int kpy_with_python(void (*body)(void* argument), void* argument);
/* Once, from the interpreter's main thread. */
KPY_HIDDEN int kpy_with_python_init(void);

/* Runs body(argument) in a thread made for it, and waits: nothing that a framework keeps for the calling thread, such as a trace or a
 * mode, has an effect on it. In the calling thread if no other can be made. The body leaves no exception. */
KPY_HIDDEN void kpy_in_fresh_thread(void (*body)(void* argument), void* argument);

#endif /* KERNPACK_PYTHON_PYTHON_THREADS_H_ */
