/* What calls of a function teach: how types are read, what passed the check last, which JAX programs there are.
 *
 * With a GIL all threads share one. Without it each thread has its own: no call waits for another thread, nor reads what one writes. A
 * thread that ends leaves what it learnt to the next one that begins, so there are as many as threads that lived at once. */
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
