// Whether the backward ops that a module declares (KP_GRAD) fit the forward op.
#ifndef KERNPACK_SRC_MODULE_GRADIENTS_H_
#define KERNPACK_SRC_MODULE_GRADIENTS_H_

#include <string_view>
#include <vector>

#include <kernpack/config.h>
#include <kernpack/signature/program.h>

namespace kernpack::host {

// A function's name and compiled contract.
struct Contract {
  const char* name;
  signature::View view;
};

// Arguments meet by name: a backward op takes parameters and results of the forward op, each under its own name and of a kind and
// shape that fits it, and gradients of results as d_<result>; it gives d_<parameter>. Each differentiable parameter gets its
// gradient from one backward op, or is declared nondiff. 0, or -1 with a ValueError raised.
int CheckGradient(const Contract& forward, const std::vector<Contract>& backwards);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULE_GRADIENTS_H_
