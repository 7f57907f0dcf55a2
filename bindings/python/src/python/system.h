/* The operating system's functions that the call core uses, in linux/ and windows/. They need no thread that is attached to Python. */
#ifndef KERNPACK_PYTHON_PYTHON_SYSTEM_H_
#define KERNPACK_PYTHON_PYTHON_SYSTEM_H_

#include <stddef.h>

#include "base.h"

/* The file of a library: libtorch_cpu.so, or torch_cpu.dll. */
#if defined(_WIN32)
#define KPY_LIBRARY_FILE(name) name ".dll"
#else
#define KPY_LIBRARY_FILE(name) "lib" name ".so"
#endif

/* A library that is loaded already, or NULL; it stays loaded from now on. */
KPY_HIDDEN void* kpy_loaded_library(const char* file);
/* A function or variable that a library exports, or NULL. */
KPY_HIDDEN void* kpy_library_symbol(void* library, const char* name);
/* How many bytes of an allocation may be read, from where the C library's allocator said it begins. */
KPY_HIDDEN size_t kpy_usable_bytes(void* allocation);
/* The bytes of stack that the calling thread has left, as far as the system tells: Linux' stacks hold Python's limit of recursion. */
KPY_HIDDEN size_t kpy_stack_left(void);
KPY_HIDDEN void kpy_sleep_forever(void);
/* Has the child run a function after each fork; -1 if there is no memory for it. Processes don't fork on Windows. */
KPY_HIDDEN int kpy_after_fork(void (*in_child)(void));

#endif /* KERNPACK_PYTHON_PYTHON_SYSTEM_H_ */
