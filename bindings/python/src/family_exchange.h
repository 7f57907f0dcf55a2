/* Results for frameworks with an exchange table: their allocator, their objects. */
#ifndef KERNPACK_PYTHON_FAMILY_EXCHANGE_H_
#define KERNPACK_PYTHON_FAMILY_EXCHANGE_H_

#include "core.h"

/* The one family of this table; NULL on failure. */
KPY_HIDDEN const KpyFamily* kpy_exchange_family(const KpyExchangeApi* api, PyTypeObject* type, const char* name);

#endif /* KERNPACK_PYTHON_FAMILY_EXCHANGE_H_ */
