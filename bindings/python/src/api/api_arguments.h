/* The kinds of argument of kernpack._core's functions, and the parser that reads all of them. api_table.h lists the arguments of each
 * function. */
#ifndef KERNPACK_PYTHON_API_API_ARGUMENTS_H_
#define KERNPACK_PYTHON_API_API_ARGUMENTS_H_

#include "python/base.h"

/* X(kind, C type, what is expected, what to do about another). The C value borrows from the Python object, except for TENSOR,
 * TARGET, PATH, FUNCTION and VALUE, which the caller of the function releases after it. */
#define KPY_ARG_KINDS(X)                                                                                            \
  X(ANY, PyObject*, "an object", "")                                                                                \
  X(CALLABLE, PyObject*, "a callable", "")                                                                          \
  X(HOOK, PyObject*, "a callable or None", "") /* NULL for None */                                                  \
  X(CLASS, PyTypeObject*, "a class", "")                                                                            \
  X(EXCEPTION, PyObject*, "an exception class", "")                                                                 \
  X(TUPLE, PyObject*, "a tuple", "")                                                                                \
  X(STR, KpBytes, "a str", "")                                                                                      \
  X(OPT_STR, KpBytes, "a str or None", "") /* may be left out; empty for None */                                    \
  X(C_STR, const char*, "a str without null characters", "")                                                        \
  X(PATH, PyObject*, "a str without null characters", "") /* bytes */                                               \
  X(BOOL, int, "True or False", "")                                                                                 \
  X(INT, int32_t, "an int of 32 bits", "")                                                                          \
  X(UINT32, uint32_t, "an int from 0 to 2**32 - 1", "")                                                             \
  X(UINT64, uint64_t, "an int from 0 to 2**64 - 1", "")                                                             \
  X(ADDRESS, void*, "an int from 0 to 2**64 - 1", "")                                                               \
  X(DEVICE, KpDLDevice, "a device, such as \"cuda:1\"", "")                                                         \
  X(DEVICE_OR_NONE, KpDLDevice, "a device, such as \"cuda:1\", or None", "") /* {0, 0} for None */                  \
  X(OPT_DEVICE, KpDLDevice, "a device, such as \"cuda:1\", or None", "") /* may be left out */                      \
  X(DTYPE, KpDLDataType, "a dtype, such as \"f32\"", "")                                                            \
  X(TENSOR, KpAny, "a kernpack.Tensor", "; kernpack.from_dlpack() makes one of any array")                          \
  X(TARGET, KpAny, "a kernpack.Tensor", "; kernpack.from_dlpack() makes one of any array") /* a writeable TENSOR */ \
  X(FUNCTION, KpAny, "a callable", "")                                                                              \
  X(VALUE, KpAny, "a value", "")                                                                                    \
  X(MODULE, const KpLoadedModule*, "a loaded module", "; load() gives one")                                         \
  X(PROFILE, KpProfile*, "a profile", "; profile_begin() gives one")                                                \
  X(OBJECT, KpObject*, "a capsule with an object", "; __kernpack_object__() gives one")                             \
  X(INFO, KpyFunction*, "a FunctionInfo", "; function() gives one")

typedef enum KpyArgKind {
#define KPY_KIND(kind, type, expected, hint) KPY_ARG_##kind,
  KPY_ARG_KINDS(KPY_KIND)
#undef KPY_KIND
} KpyArgKind;

#define KPY_TYPE(kind, type, expected, hint) typedef type KpyArg_##kind;
KPY_ARG_KINDS(KPY_TYPE)
#undef KPY_TYPE

typedef union KpyArg {
#define KPY_MEMBER(kind, type, expected, hint) KpyArg_##kind kind;
  KPY_ARG_KINDS(KPY_MEMBER)
#undef KPY_MEMBER
} KpyArg;

enum { KPY_API_MOST = 6 }; /* arguments of a function */

typedef struct KpyApiParam {
  KpyArgKind kind;
  const char* name;
} KpyApiParam;

typedef struct KpyApiFunction {
  const char* who; /* what its caller calls it, for errors */
  Py_ssize_t count;
  KpyApiParam params[KPY_API_MOST];
} KpyApiFunction;

/* 0, or -1 with "who: name: expected ..., got ..." raised. */
KPY_HIDDEN int kpy_api_read(const KpyApiFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                            KpyArg* out);
/* Releases what kpy_api_read kept. NULL without an exception is a failure in the host, whose error it raises. */
KPY_HIDDEN PyObject* kpy_api_answer(const KpyApiFunction* f, KpyArg* args, PyObject* answer);

#endif /* KERNPACK_PYTHON_API_API_ARGUMENTS_H_ */
