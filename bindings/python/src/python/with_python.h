/* Entering Python from a thread of any kind, at any time: also while the interpreter ends. */
#ifndef KERNPACK_PYTHON_PYTHON_WITH_PYTHON_H_
#define KERNPACK_PYTHON_PYTHON_WITH_PYTHON_H_

#include "base.h"

/* Runs body(argument) with the GIL: 1; or leaves it and says 0, because Python has ended or is about to. A thread that the
 * interpreter's end overtakes inside the body never comes back: it sleeps until the process ends. */
KPY_HIDDEN int kpy_with_python(void (*body)(void* argument), void* argument);
/* Once, from the interpreter's main thread. */
KPY_HIDDEN int kpy_with_python_init(void);

#endif /* KERNPACK_PYTHON_PYTHON_WITH_PYTHON_H_ */
