// What a module's entries that link two functions (KP_GRAD, KP_JVP) say, compared with the functions' contracts.
#ifndef KERNPACK_SRC_MODULES_LINKS_H_
#define KERNPACK_SRC_MODULES_LINKS_H_

#include "modules/function_index.h"

namespace kernpack::host {

// Each returns 0, or -1 with a ValueError raised. `where`: the module's file, for the message.
int CheckGradients(const FunctionIndex& index, const char* where);
int CheckJvps(const FunctionIndex& index, const char* where);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULES_LINKS_H_
