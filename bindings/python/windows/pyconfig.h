/* In place of the pyconfig.h beside the headers of the Python that builds, which describes Linux: CPython on 64-bit Windows, as far as
 * its limited API needs it. */
#ifndef KERNPACK_PYTHON_WINDOWS_PYCONFIG_H_
#define KERNPACK_PYTHON_WINDOWS_PYCONFIG_H_

#define MS_WIN32
#define MS_WIN64
#define MS_WINDOWS
#define HAVE_DECLSPEC_DLL

#define SIZEOF_DOUBLE 8
#define SIZEOF_FLOAT 4
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_SHORT 2
#define SIZEOF_SIZE_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_WCHAR_T 2
#define ALIGNOF_MAX_ALIGN_T 16

#define HAVE_INTTYPES_H 1
#define HAVE_STDDEF_H 1
#define HAVE_STDINT_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UINTPTR_T 1
#define HAVE_WCHAR_H 1
#define STDC_HEADERS 1

typedef long long Py_ssize_t;
#define HAVE_PY_SSIZE_T 1
#define PY_SSIZE_T_MAX 0x7fffffffffffffffLL

#define PY_SUPPORT_TIER 0
#define WITH_DOC_STRINGS 1

#endif /* KERNPACK_PYTHON_WINDOWS_PYCONFIG_H_ */
