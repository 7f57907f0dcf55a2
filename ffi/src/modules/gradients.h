// Checks that the ops of a module that compute gradients (KP_GRAD) and tangents (KP_JVP) fit the forward op.
#ifndef KERNPACK_SRC_MODULES_GRADIENTS_H_
#define KERNPACK_SRC_MODULES_GRADIENTS_H_

#include <vector>

#include "modules/contracts.h"
#include "modules/function_index.h"

namespace kernpack::host {

// Arguments meet by name: a backward op takes parameters and results of the forward op, each under its own name and of a kind and
// shape that fits it, and gradients of results as d_<result>; it gives d_<parameter>. Each differentiable parameter gets its
// gradient from one backward op, or is declared nondiff. 0, or -1 with a ValueError raised.
int CheckGradient(const Contract& forward, const std::vector<Contract>& backwards);

// Likewise: a tangent op takes parameters and results of the forward op, each under its own name, and tangents of parameters as
// t_<parameter>; it gives t_<result>. It takes the tangent of each differentiable parameter that isn't declared nondiff, and
// gives that of each differentiable result that callers see. 0, or -1 with a ValueError raised.
int CheckTangents(const Contract& forward, const Contract& tangent);

// Compare a module's links between two functions (KP_GRAD, KP_JVP) with the contracts of the functions.
// Each returns 0, or -1 with a ValueError raised. `where`: the module's file, for the message.
int CheckGradients(const FunctionIndex& index, const char* where);
int CheckJvps(const FunctionIndex& index, const char* where);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULES_GRADIENTS_H_
