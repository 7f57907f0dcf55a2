/* Results for frameworks that speak only __dlpack__. */
#ifndef KERNPACK_PYTHON_FAMILY_DLPACK_H_
#define KERNPACK_PYTHON_FAMILY_DLPACK_H_

#include "core.h"

/* The family of this array type; NULL on failure. */
KPY_HIDDEN const KpyFamily* kpy_dlpack_family(PyTypeObject* type);

#endif /* KERNPACK_PYTHON_FAMILY_DLPACK_H_ */
