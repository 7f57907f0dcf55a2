#include "locals.h"

#include "call_typed.h"
#include "python/threads.h"

#include <pthread.h>

/* Fills *local with what nothing is known yet in; 0 or -1. */
static int Fill(const KpyFunction* f, KpyLocal* local) {
  local->slots = (KpySlots*)PyMem_Calloc((size_t)f->num_slots + 1, sizeof(KpySlots));
  if (local->slots == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  return kpy_memo_init(f, &local->memo);
}

#ifdef Py_GIL_DISABLED

__thread KpyLocals kpy_locals;

/* One thread's that has ended, until another takes it over. */
typedef struct Left {
  struct Left* next;
  KpyLocals locals;
} Left;

static Left* g_left;
static pthread_key_t g_ends; /* its destructor runs when a thread ends that has locals */

/* A thread that ends doesn't belong to Python any more, which alone could free what the locals hold. */
static void Leave(void* left) {
  const KpyLocals none = {NULL, 0};
  ((Left*)left)->locals = kpy_locals;
  kpy_locals = none;
  kpy_lock();
  ((Left*)left)->next = g_left;
  g_left = (Left*)left;
  kpy_unlock();
}

/* The thread's first call of any function. */
static int Enter(void) {
  Left* left;
  kpy_lock();
  left = g_left;
  if (left != NULL) g_left = left->next;
  kpy_unlock();
  if (left == NULL) left = (Left*)PyMem_RawCalloc(1, sizeof(Left));
  if (left == NULL || pthread_setspecific(g_ends, left) != 0) {
    PyMem_RawFree(left);
    PyErr_NoMemory();
    return -1;
  }
  kpy_locals = left->locals;
  return 0;
}

static int Grow(uint32_t least) {
  const uint32_t count = least < 64 ? 64 : 2 * least;
  KpyLocal** of = (KpyLocal**)PyMem_RawRealloc(kpy_locals.of, count * sizeof(KpyLocal*));
  if (of == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (; kpy_locals.count < count; ++kpy_locals.count) of[kpy_locals.count] = NULL;
  kpy_locals.of = of;
  return 0;
}

KpyLocal* kpy_local_make(KpyFunction* f) {
  KpyLocal* local;
  if (pthread_getspecific(g_ends) == NULL && Enter() != 0) return NULL;
  if (f->number >= kpy_locals.count && Grow(f->number + 1) != 0) return NULL;
  local = kpy_locals.of[f->number];
  if (local != NULL) return local;
  local = (KpyLocal*)PyMem_RawCalloc(1, sizeof(KpyLocal));
  if (local == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  if (Fill(f, local) != 0) {
    PyMem_Free(local->slots);
    PyMem_RawFree(local);
    return NULL;
  }
  kpy_locals.of[f->number] = local;
  return local;
}

int kpy_locals_init(KpyFunction* f) {
  (void)f; /* each thread makes its own */
  return 0;
}

int kpy_locals_start(void) {
  if (pthread_key_create(&g_ends, Leave) == 0) return 0;
  PyErr_NoMemory();
  return -1;
}

#else

int kpy_locals_init(KpyFunction* f) { return Fill(f, &f->local); }
int kpy_locals_start(void) { return 0; }

#endif
