/* CPython before 3.14 ends a thread that asks for the GIL too late by pthread_exit, which unwinds the kernel's C++ frames and so
 * ends the process; a thread that it does not know yet finds its interpreter gone. So a function registered with atexit closes
 * a gate, waits until those who are past it hold the GIL, and whoever is overtaken later sleeps instead of unwinding. */

#include "hooks.h"
#include "system.h"
#include "threads.h"

#include <pthread.h>
#include <time.h>

enum { kPatience = 1 }; /* seconds for callbacks that run while the interpreter ends */

static int g_closed; /* atomic */
static int g_entering; /* atomic: threads between the gate and the GIL */
static int g_inside; /* atomic: bodies that run */
static __thread int t_inside; /* of them, this thread's */
static pthread_t g_ending; /* who closed the gate; the only one that the end does not overtake */

static int MayEnter(void) {
  if (!Py_IsInitialized()) return 0;
  __atomic_add_fetch(&g_entering, 1, __ATOMIC_SEQ_CST);
  if (KPY_LIKELY(!__atomic_load_n(&g_closed, __ATOMIC_SEQ_CST)) || pthread_equal(g_ending, pthread_self())) return 1;
  __atomic_sub_fetch(&g_entering, 1, __ATOMIC_SEQ_CST);
  return 0;
}

static void SleepForever(void* unused) {
  (void)unused;
  kpy_sleep_forever();
}

int kpy_with_python(void (*body)(void* argument), void* argument) {
  PyGILState_STATE state;
  if (!MayEnter()) return 0;
  pthread_cleanup_push(SleepForever, NULL);
  state = PyGILState_Ensure();
  (void)__atomic_add_fetch(&g_inside, 1, __ATOMIC_SEQ_CST); /* first, so that Close misses nobody */
  __atomic_sub_fetch(&g_entering, 1, __ATOMIC_SEQ_CST);
  ++t_inside;
  body(argument);
  --t_inside;
  (void)__atomic_sub_fetch(&g_inside, 1, __ATOMIC_SEQ_CST);
  PyGILState_Release(state);
  pthread_cleanup_pop(0);
  return 1;
}

typedef struct Work {
  void (*body)(void*);
  void* argument;
  int done;
} Work;

/* Without the garbage collector, which calls __del__: that may wait for a lock of the thread that waits for this one. */
static void WorkUncollected(void* argument) {
  Work* work = (Work*)argument;
  const int collects = PyGC_Disable();
  work->body(work->argument);
  if (collects) (void)PyGC_Enable();
  work->done = 1;
}

static void* BeginWork(void* argument) {
  (void)kpy_with_python(WorkUncollected, argument);
  return NULL;
}

void kpy_in_fresh_thread(void (*body)(void* argument), void* argument) {
  Work work = {body, argument, 0};
  pthread_t thread;
  Py_BEGIN_ALLOW_THREADS;
  if (pthread_create(&thread, NULL, BeginWork, &work) == 0) (void)pthread_join(thread, NULL);
  Py_END_ALLOW_THREADS;
  if (!work.done) body(argument); /* no thread left, or Python is ending */
}

static int64_t Now(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void Nap(void) {
  const struct timespec millisecond = {0, 1000000};
  (void)nanosleep(&millisecond, NULL);
}

/* Who asked for the GIL gets it before the interpreter is torn down; who runs gets some time to finish, so that threads that
 * something joins at exit can be joined. */
static PyObject* Close(PyObject* self, PyObject* unused) {
  const int64_t begin = Now();
  int inside;
  (void)self, (void)unused;
  kpy_helpers_end();
  g_ending = pthread_self();
  __atomic_store_n(&g_closed, 1, __ATOMIC_SEQ_CST);
  do {
    inside = __atomic_load_n(&g_inside, __ATOMIC_SEQ_CST);
    if (inside == t_inside && __atomic_load_n(&g_entering, __ATOMIC_SEQ_CST) == 0) break;
    Py_BEGIN_ALLOW_THREADS;
    Nap();
    Py_END_ALLOW_THREADS;
  } while (__atomic_load_n(&g_entering, __ATOMIC_SEQ_CST) > 0 || Now() - begin < kPatience * (int64_t)1000000000);
  Py_RETURN_NONE;
}

/* The child has this one thread. */
static void ForgetThreads(void) {
  g_entering = 0;
  g_inside = t_inside;
  kpy_lock_forget();
}

int kpy_with_python_init(void) {
  static PyMethodDef close = {"end_callbacks", Close, METH_NOARGS, NULL};
  PyObject *function, *atexit, *answer;
  if (kpy_after_fork(ForgetThreads) != 0) {
    PyErr_NoMemory();
    return -1;
  }
  g_closed = 0;
  function = PyCFunction_NewEx(&close, NULL, NULL);
  atexit = function == NULL ? NULL : PyImport_ImportModule("atexit");
  answer = atexit == NULL ? NULL : PyObject_CallMethod(atexit, "register", "O", function);
  Py_XDECREF(function);
  Py_XDECREF(atexit);
  Py_XDECREF(answer);
  return answer == NULL ? -1 : 0;
}
