/* The docstring of a builtin: "name($self, x, weight, *, eps=1e-06, out=None)\n--\n\n...", which help() and
 * inspect.signature() read. */
#ifndef KERNPACK_PYTHON_TEXT_SIGNATURE_H_
#define KERNPACK_PYTHON_TEXT_SIGNATURE_H_

#include "core.h"

/* PyMem memory, or NULL with an error. */
KPY_HIDDEN char* kpy_text_signature(KpyFunction* f);

#endif /* KERNPACK_PYTHON_TEXT_SIGNATURE_H_ */
