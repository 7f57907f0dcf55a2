/* New torch tensors as results, by a shorter way than the exchange table's. */
#ifndef KERNPACK_PYTHON_FAMILY_TORCH_H_
#define KERNPACK_PYTHON_FAMILY_TORCH_H_

#include "core.h"

/* Gives `family`, torch's, the shorter way where the loaded torch has it and it does what is expected. */
KPY_HIDDEN void kpy_torch_family_init(KpyFamily* family);

#endif /* KERNPACK_PYTHON_FAMILY_TORCH_H_ */
