/* What the call core takes from a loaded torch without Python: entries of its libraries, found by name. Each is optional. torch promises
 * only those of its C shim, aoti_*; names of C++ are looked for in private_torch/ only. */
#ifndef KERNPACK_PYTHON_TORCH_TORCH_SYMBOLS_H_
#define KERNPACK_PYTHON_TORCH_TORCH_SYMBOLS_H_

#include "python/base.h"

/* NULL when no library of torch's that is loaded has it. */
KPY_HIDDEN void* kpy_torch_symbol(const char* name);

#endif /* KERNPACK_PYTHON_TORCH_TORCH_SYMBOLS_H_ */
