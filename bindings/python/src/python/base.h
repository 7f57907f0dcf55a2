/* Declarations that all files of the call core share. Plain C on CPython's limited API (3.11), or on the whole API of a free-threaded CPython,
 * which has no limited one until 3.15. Everything here needs an attached thread, which has the GIL where there is one, unless it
 * says otherwise. Functions returning int return 0, or -1 with a Python exception set. */
#ifndef KERNPACK_PYTHON_PYTHON_BASE_H_
#define KERNPACK_PYTHON_PYTHON_BASE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <kernpack/host/signature.h>

#define KPY_HIDDEN __attribute__((visibility("hidden")))
#define KPY_LIKELY(x) __builtin_expect(!!(x), 1)
#define KPY_UNLIKELY(x) __builtin_expect(!!(x), 0)

typedef struct KpyCall KpyCall;
typedef struct KpyFamily KpyFamily;
typedef struct KpyFunction KpyFunction;
typedef struct KpyJaxProgram KpyJaxProgram;
typedef struct KpyLocal KpyLocal;
typedef struct KpyMemo KpyMemo;
typedef struct KpySlot KpySlot;
typedef struct KpySlots KpySlots;

#endif /* KERNPACK_PYTHON_PYTHON_BASE_H_ */
