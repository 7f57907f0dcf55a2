/* Caches of a function's calls: the converters of types, the arguments that passed the last check, JAX programs.
 *
 * With a GIL, all threads share one set of caches. Without a GIL, each thread has its own set, so no call waits for another thread or reads
 * data that another thread writes. A thread that ends leaves its set to the next thread that begins, so there are as many sets as threads
 * that lived at the same time. */
#ifndef KERNPACK_PYTHON_CALL_LOCALS_H_
#define KERNPACK_PYTHON_CALL_LOCALS_H_

#include "function.h"

#ifdef Py_GIL_DISABLED

/* Of one thread: by the numbers of the functions; NULL where it has not called one. */
typedef struct KpyLocals {
  KpyLocal** of;
  uint32_t count;
} KpyLocals;

KPY_HIDDEN extern __thread KpyLocals kpy_locals;
/* This thread's first of the function; NULL with an error. */
KPY_HIDDEN KpyLocal* kpy_local_make(KpyFunction* f);

static inline KpyLocal* kpy_local(KpyFunction* f) {
  if (KPY_LIKELY(f->number < kpy_locals.count) && KPY_LIKELY(kpy_locals.of[f->number] != NULL))
    return kpy_locals.of[f->number];
  return kpy_local_make(f);
}

#else

static inline KpyLocal* kpy_local(KpyFunction* f) { return &f->local; }

#endif

/* Of a new function; 0 or -1. */
KPY_HIDDEN int kpy_locals_init(KpyFunction* f);
/* Once, for the process. */
KPY_HIDDEN int kpy_locals_start(void);

#endif /* KERNPACK_PYTHON_CALL_LOCALS_H_ */
